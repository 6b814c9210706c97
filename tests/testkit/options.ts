/** The options that tests run, from the one list of them. */
import { type LoadedOption, loadOptions, OPTIONS } from '@mrtr/options-list';

/** Every option that works without a database. */
export const IN_MEMORY: readonly LoadedOption[] = await loadOptions(
  OPTIONS.filter(({ needsPostgres }) => !needsPostgres),
);

/** Whether its state is sealed. Without, nothing pins an answer to its question. */
export const sealsState = ({ claims }: LoadedOption): boolean => claims.modern.forgeries === 'refused';

/**
 * One option for each way of resuming a call: with or without sealed state, with or without a handler that waits in
 * memory; and for old clients in one run of the handler or in many, with the SDK's shim or without it.
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
