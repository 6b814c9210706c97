/** The keyboard of the viewer. */
import { useLayoutEffect, useRef } from 'preact/hooks';

type Keys = Readonly<Record<string, (() => void) | undefined>>;

/** Calls the action of each pressed key. Works everywhere, or only inside `box`, but not in a field. */
export function useKeys(keys: Keys, box?: { readonly current: HTMLElement | null }) {
  const latest = useRef(keys);
  latest.current = keys;
  // Listen before it is painted, so that no key press is lost.
  useLayoutEffect(() => {
    const place: Window | HTMLElement = box?.current ?? window;
    const onKey = (event: Event) => {
      if (!(event instanceof KeyboardEvent)) return;
      const { target, key } = event;
      const isIn = (selector: string) => target instanceof Element && target.closest(selector) !== null;
      if (event.metaKey || event.ctrlKey || event.altKey) return;
      // Space presses a button.
      if (isIn('input, select, textarea, [role=tablist]') || (key === ' ' && isIn('button, a, summary')))
        return;
      const action = latest.current[key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    place.addEventListener('keydown', onKey);
    return () => place.removeEventListener('keydown', onKey);
  }, []);
}
