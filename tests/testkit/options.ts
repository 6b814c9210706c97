/** The options that tests run, selected from the list of all. */
import { type LoadedOption, loadOptions, OPTIONS } from '@mrtr/comparison/options';

/** Every option that works without a database. */
export const IN_MEMORY: readonly LoadedOption[] = await loadOptions(
  OPTIONS.filter(({ needsPostgres }) => !needsPostgres),
);

/** Whether an option seals its state. Without a seal, nothing ties an answer to its question. */
export const sealsState = ({ claims }: LoadedOption): boolean => claims.modern.forgeries === 'rejected';

/**
 * One option for each way of resuming a call. The ways differ in sealed state, in handlers that wait in memory, and for
 * old clients in the runs of the handler and the use of the SDK's shim.
 */
export function oneForEachWay(options: readonly LoadedOption[]): readonly LoadedOption[] {
  const ways = new Map<string, LoadedOption>();
  for (const option of options) {
    const { modern, legacy } = option.claims;
    const way = [sealsState(option), modern.framesHeld, legacy.entries, legacy.asked].join();
    if (!ways.has(way)) ways.set(way, option);
  }
  return [...ways.values()];
}
