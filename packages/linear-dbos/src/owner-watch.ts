import { type CallRow, NOBODY } from './call-table.ts';

/**
 * Watches the owner of a call, for a request that waits for the call.
 *
 * @returns a function that returns the reason why another instance may take the call over. Its owner has released it
 * (`released`), has been dead for `takeOverMs` (`waited`), or died while the call waited for its user (`nothing runs`).
 */
export function watchOwner(takeOverMs: number) {
  let deadSince: number | undefined;
  return async (
    { dead, instance }: CallRow,
    hasAnswers: () => Promise<boolean>,
  ): Promise<'nothing runs' | 'released' | 'waited' | undefined> => {
    if (instance === NOBODY) return 'released';
    deadSince = dead ? (deadSince ?? performance.now()) : undefined;
    if (deadSince === undefined) return undefined;
    if (performance.now() - deadSince >= takeOverMs) return 'waited';
    return (await hasAnswers()) ? undefined : 'nothing runs';
  };
}
