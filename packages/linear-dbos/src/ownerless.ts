import { type CallRow, NOBODY } from './call-table.ts';

/**
 * Watches the owner of a call, for a request that waits for the call.
 *
 * @returns a function that says why another instance may take the call over: nothing of it runs, or its owner has given
 * it up or has had its time.
 */
export function watchOwner(takeOverMs: number) {
  let deadSince: number | undefined;
  return async (
    { dead, instance }: CallRow,
    runs: () => Promise<boolean>,
  ): Promise<'nothing runs' | 'given up' | 'waited' | undefined> => {
    if (instance === NOBODY) return 'given up';
    deadSince = dead ? (deadSince ?? performance.now()) : undefined;
    if (deadSince === undefined) return undefined;
    if (performance.now() - deadSince >= takeOverMs) return 'waited';
    return (await runs()) ? undefined : 'nothing runs';
  };
}
