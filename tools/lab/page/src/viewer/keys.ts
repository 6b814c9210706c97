/** The keyboard of the viewer. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Zoom } from './model.ts';

export interface Keys {
  readonly go: (to: number) => void;
  readonly step: number;
  readonly last: number;
  readonly toggle: (() => void) | undefined;
  readonly zoomTo: (zoom: Zoom) => void;
}

/** Arrows step, space plays, 1 and 2 zoom. Works everywhere, or only inside `box`, but not in a field. */
export function useKeys(keys: Keys, box?: { readonly current: HTMLElement | null }): void {
  const latest = useRef(keys);
  latest.current = keys;
  // Listen before it is painted, so that no key press is lost.
  useLayoutEffect(() => {
    const place: Window | HTMLElement = box?.current ?? window;
    const onKey = (event: Event) => {
      if (!(event instanceof KeyboardEvent)) return;
      const { target, key } = event;
      const busy = target instanceof Element && target.closest('input, select, textarea, [role=tablist]');
      if (busy || event.metaKey || event.ctrlKey || event.altKey) return;
      const onButton = target instanceof Element && target.closest('button, a, summary');
      const { go, step, last, toggle, zoomTo } = latest.current;
      const actions: Readonly<Record<string, () => void>> = {
        ArrowLeft: () => go(step - 1),
        ArrowRight: () => go(step + 1),
        Home: () => go(0),
        End: () => go(last),
        '1': () => zoomTo('rounds'),
        '2': () => zoomTo('wire'),
        ...(!onButton && toggle && { ' ': toggle }),
      };
      const action = actions[key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    place.addEventListener('keydown', onKey);
    return () => place.removeEventListener('keydown', onKey);
  }, []);
}
