/** Waits for what a lab becomes. */
import type { Lab } from './lab.ts';
import type { Change, SideName, SideState } from './protocol.ts';

export const watching =
  (lab: () => Lab) =>
  (side: SideName, is: (state: SideState) => boolean): Promise<SideState> =>
    new Promise((resolve) => {
      let stop = () => {};
      const watcher = ({ side: changed, state }: Change) => {
        if (changed !== side || !is(state)) return;
        queueMicrotask(() => stop());
        resolve(state);
      };
      stop = lab().watch(watcher);
    });
