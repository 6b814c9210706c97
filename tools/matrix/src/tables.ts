/** The measured tables. */
import { GET_WEATHER, RESOLVE_WORK_ITEM } from '@mrtr/comparison';
import type { Measured } from '@mrtr/comparison/calls';
import { findOption, type ListedOption } from '@mrtr/comparison/options';
import { markdownTable } from 'markdown-table';
import { deployTables } from './deploy/table.ts';
import type { Cell } from './measure/invariants.ts';
import { SCENARIOS } from './measure/measure.ts';
import type { LocalScenario, Measurement } from './measure/measurement.ts';
import type { RetriedTwice } from './measure/retried-twice.ts';
import { type UnattendedCell, unattendedTable } from './measure/unattended.ts';
import { type UndrawnCell, undrawnTable } from './measure/undrawn.ts';
import { groupBy, nameOf, type Rows } from './table-rows.ts';

type Identity = Pick<Measured, 'id' | 'name' | 'title'>;
type Where = Partial<Pick<Measurement, 'client' | 'hosting' | 'legacy' | 'tool' | 'script'>>;

const METRIC = { tool: GET_WEATHER, script: 'metric' } as const;
const FIXED = { tool: RESOLVE_WORK_ITEM, script: 'fixed' } as const;
const DUPLICATE = { tool: RESOLVE_WORK_ITEM, script: 'duplicate' } as const;

/** The scenarios in the tables: three calls of a modern client, and the weather for all other clients. */
export const TABLED: readonly LocalScenario[] = SCENARIOS.filter(({ client, script: { name } }) =>
  (client === 'modern' ? [METRIC, FIXED, DUPLICATE] : [METRIC]).some(({ script }) => script === name),
);

type TableName =
  | 'comparison'
  | 'options'
  | 'unattended'
  | 'undrawn'
  | 'quadrant'
  | keyof ReturnType<typeof deployTables>;

/** Makes every measured table in Markdown, by the name of its block in the documents. */
export function measuredTables(
  options: readonly Measured[],
  cells: readonly Cell[],
  unattended: readonly UnattendedCell[],
  undrawn: readonly UndrawnCell[],
): Readonly<Record<TableName, string>> {
  // Variants follow the lettered options, except H's, which follows H.
  const rank = ({ id, claims }: Measured) =>
    id.length === 1 || (claims.modern.framesHeld > 0 && claims.modern.otherInstance === 'finishes') ? 0 : 1;
  const rows = [...options].sort((one, other) => rank(one) - rank(other));
  const ofOptions = optionsTable(rows, cells);
  const tables = {
    comparison: mergeRows(addDescriptions(ofOptions, rows, measurementsIn(cells)), [11, 12, 13, 14, 7, 1, 2]),
    options: mergeRows(ofOptions.map(withoutTitle), [5, 6, 9, 3, 8, 10]), // the columns that the comparison leaves out
    quadrant: quadrantTable(rows, measurementsIn(cells)),
    unattended: unattendedTable(unattended),
    undrawn: undrawnTable(undrawn),
    ...deployTables(options),
  };
  const written = Object.entries(tables).map(([name, table]) => [name, markdownTable(table)]);
  return Object.fromEntries(written);
}

const measurementsIn = (cells: readonly Cell[]): readonly Measurement[] =>
  cells.map(({ call }) => call.measurement);

/** A measured row per option. Two numbers in a cell stand for one and for two questions. */
export function optionsTable(options: readonly Identity[], cells: readonly Cell[]): Rows {
  const measurements = measurementsIn(cells);
  const head = [
    'Option',
    'Entered',
    'Audit entries',
    'State, bytes',
    'Frames',
    'Another instance',
    'After a restart',
    'Old client gets',
    'Cannot be asked',
    'Writes, retries sent twice (`singleUse: false`)',
    'Unasked answer / other state',
  ];
  const rows = options.map((option) => {
    const find = finder(option, measurements);
    const modern = { client: 'modern', hosting: 'memory' } as const;
    const [one, two] = [find({ ...modern, ...METRIC }), find({ ...modern, ...DUPLICATE })];
    const old = find({ client: 'legacy', hosting: 'memory', legacy: 'shim', ...METRIC });
    return [
      `**${nameOf(option)}** ${option.title}`,
      `${one.entries}× / ${two.entries}×`,
      auditEntries(one.audits, old.audits),
      `${sizes(one)} / ${sizes(two)}`,
      `${one.framesHeld}`,
      one.otherInstance,
      one.restart,
      `${heldConnection(find)}; stateless: ${describeOutcome(find({ client: 'legacy', hosting: 'fleet', legacy: 'shim', ...METRIC }))}`,
      describeOutcome(find({ client: 'unaskable', hosting: 'memory', ...METRIC })),
      writesWhenRetried(find({ ...modern, ...FIXED })),
      describeForgeries(two),
    ];
  });
  return [head, ...rows];
}

/** Adds what each option's `package.json` says of it. Whether a hidden re-entry is safe is measured. */
function addDescriptions(
  [head = [], ...rows]: Rows,
  options: readonly Identity[],
  measurements: readonly Measurement[],
): Rows {
  const described = options.map((option, at) => {
    const find = finder(option, measurements);
    const one = find({ client: 'modern', hosting: 'memory', ...METRIC });
    const { folder, authorWrites, sdkDoes, hiddenReentry } = findOption(option.id) as ListedOption;
    const safety = one.audits > 1 ? ', **unsafe**' : hiddenReentry ? ', safe' : '';
    const state = serverState(one, heldConnection(find));
    const author = `[${authorWrites}](${folder}/weather.ts)`;
    return [...(rows[at] ?? []), author, sdkDoes, (hiddenReentry ? 'yes' : 'no') + safety, state];
  });
  return [[...head, 'Author writes', 'SDK does', 'Hidden re-entry', 'Server state'], ...described];
}

function serverState({ framesHeld, otherInstance }: Measurement, oldClient: string): string {
  if (framesHeld > 0) return otherInstance === 'finishes' ? 'a frame, and a database' : 'a frame';
  return oldClient === 'asked' ? 'a stream to each old client' : 'none';
}

const withoutTitle = ([option = '', ...cells]: Rows[number]) => [option.replace(/\*\* .*/, '**'), ...cells];

/** Keeps these columns of a table, and merges the rows of options with equal cells. */
function mergeRows(table: Rows, columns: readonly number[]): Rows {
  const keep = (row: Rows[number]) => columns.map((column) => row[column] ?? '');
  return groupBy(table, (row) => keep(row).join('|')).map((rows) => [
    rows.map(([name]) => name).join('<br>'),
    ...keep(rows[0]),
  ]);
}

/** Server infrastructure × client: the outcome, and the options that have it. */
function quadrantTable(options: readonly Identity[], measurements: readonly Measurement[]): Rows {
  const cell = (words: (find: ReturnType<typeof finder>) => string) => {
    const wordsOf = (option: Identity) => words(finder(option, measurements));
    return groupBy(options, wordsOf)
      .map((alike) => `${alike.map(nameOf).join(', ')}: ${wordsOf(alike[0])}`)
      .join('<br>');
  };
  const fleet = { hosting: 'fleet', legacy: 'shim', ...METRIC } as const;
  const asked = { client: 'modern', ...METRIC } as const;
  return [
    ['Server', 'Client at 2025-11-25', 'Client at 2026-07-28'],
    [
      'One instance, can hold a stream',
      cell(heldConnection),
      cell((find) => describeOutcome(find({ ...asked, hosting: 'memory' }))),
    ],
    [
      'Several stateless instances',
      cell((find) => describeOutcome(find({ ...fleet, client: 'legacy' }))),
      cell((find) => describeOutcome(find({ ...asked, hosting: 'fleet' }))),
    ],
  ];
}

function heldConnection(find: (where: Where) => Measurement): string {
  const held = { client: 'legacy', hosting: 'memory', ...METRIC } as const;
  const [shim, degrade] = [
    describeOutcome(find({ ...held, legacy: 'shim' })),
    describeOutcome(find({ ...held, legacy: 'degrade' })),
  ];
  return shim === degrade ? shim : `${shim} by the shim (\`degrade\`: ${degrade})`;
}

/** The number of writes when each retry is delivered twice: by default, and with single use off. */
function writesWhenRetried({ retriedTwice }: Measurement): string {
  if (!retriedTwice) return 'not measured';
  const { 'by default': byDefault, off } = retriedTwice;
  return `${writesOf(byDefault)} (${writesOf(off)})`;
}

const writesOf = ({ writes, sameAnswer }: RetriedTwice): string =>
  `${writes > 1 ? `**${writes}**` : writes}${sameAnswer ? '' : ', then an error'}`;

function describeForgeries({ forged }: Measurement): string {
  if (!forged) return 'not measured';
  const { unaskedAnswer, stateOfAnotherCall } = forged;
  return [unaskedAnswer, stateOfAnotherCall]
    .map((became) => (became === 'taken' ? '**taken**' : became))
    .join(' / ');
}

function auditEntries(modern: number, old: number): string {
  const count = modern > 1 ? `**${modern}**` : `${modern}`;
  return modern === old ? count : `${count} (old client: ${old})`;
}

const describeOutcome = ({ outcome }: Measurement): string =>
  ({ elicited: 'asked', default: 'fallback', error: 'error', cancelled: 'cancelled' })[outcome];

const sizes = ({ stateBytes }: Measurement): string =>
  stateBytes.every((bytes) => bytes === 0) ? 'none' : stateBytes.join(', ');

function finder({ id }: Identity, measurements: readonly Measurement[]) {
  return (where: Where): Measurement => {
    const found = measurements.find(
      (seen) =>
        seen.option === id &&
        Object.entries(where).every(([key, value]) => seen[key as keyof Where] === value),
    );
    if (!found) throw new Error(`Option ${id} was not measured in ${JSON.stringify(where)}.`);
    return found;
  };
}
