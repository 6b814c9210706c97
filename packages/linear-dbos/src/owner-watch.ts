import { type CallRow, NOBODY } from './call-table.ts';

/**
 * Watches the owner of a call, for a request that waits for the call.
 *
 * @returns a function that gives the reason why another instance may take the call over: its owner has released it, has
 * been dead for `takeOverMs`, or is dead and runs none of its turns.
 */
export function watchOwner(takeOverMs: number) {
  let deadSince: number | undefined;
  return async (
    { dead, instance }: CallRow,
    runs: () => Promise<boolean>,
  ): Promise<'nothing runs' | 'released' | 'waited' | undefined> => {
    if (instance === NOBODY) return 'released';
    deadSince = dead ? (deadSince ?? performance.now()) : undefined;
    if (deadSince === undefined) return undefined;
    if (performance.now() - deadSince >= takeOverMs) return 'waited';
    return (await runs()) ? undefined : 'nothing runs';
  };
}
