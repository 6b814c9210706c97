/** The measured table of the lab: the matrix's own, and for each of its cells the recordings that prove it. */
import { type Measured as MeasuredOption, measure, optionsTable, SCENARIOS, TABLED } from '@mrtr/matrix';
import type { Recordings } from './protocol.ts';

/** The situations of `situations.ts` that prove the cells, column by column. */
const PROOFS: readonly (readonly string[])[] = [
  ['one', 'two'],
  ['one'],
  ['one', 'two'],
  ['one'],
  ['fleet', 'fleet-two'],
  ['restart'],
  ['old', 'old-degrade', 'old-fleet'],
  ['mute'],
  ['twice-single', 'twice'],
  ['unasked', 'other-state'],
];

export async function measuredRow(
  option: MeasuredOption,
): Promise<{ readonly columns: readonly string[]; readonly cells: Recordings['rows'][number]['cells'] }> {
  const scenarios = SCENARIOS.filter(({ script }) => TABLED.includes(script.name));
  const [[, ...columns] = [], [, ...texts] = []] = optionsTable([option], await measure(option, scenarios));
  if (columns.length !== PROOFS.length)
    throw new Error('The matrix has other columns than the lab has proofs.');
  const cells = PROOFS.map((situations, at) => {
    const text = texts[at] ?? '';
    return {
      text: text.replaceAll('**', ''),
      bad: text.includes('**') || text === 'refused',
      proofs: situations.map((situation) => `${option.id}.${situation}`),
    };
  });
  return { columns: columns.map((title) => title.replaceAll('`', '')), cells };
}
