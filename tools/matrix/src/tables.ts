/** The measured tables. */
import type { Measured } from '@mrtr/comparison/calls';
import { findOption, type ListedOption } from '@mrtr/comparison/options';
import { markdownTable } from 'markdown-table';
import { deployTables } from './deploy/table.ts';
import { type Cell, SCENARIOS } from './measure/measure.ts';
import type { LocalScenario, Measurement } from './measure/measurement.ts';
import type { RetriedTwice } from './measure/retried-twice.ts';
import { type UnattendedCell, unattendedTable } from './measure/unattended.ts';
import { type UndrawnCell, undrawnTable } from './measure/undrawn.ts';
import { groupBy, nameOf, type Rows } from './table-rows.ts';

type Identity = Pick<Measured, 'id' | 'name' | 'title'>;

/** Finds a measurement of one option. */
type Find = (where: Partial<Pick<Measurement, 'client' | 'hosting' | 'legacy' | 'script'>>) => Measurement;

/** The scenarios in the tables: three calls of a modern client, and the weather for all other clients. */
export const TABLED: readonly LocalScenario[] = SCENARIOS.filter(
  ({ client, script: { name } }) =>
    name === 'metric' || (client === 'modern' && (name === 'fixed' || name === 'duplicate')),
);

/** The calls of one question and of two, and the first of an old client. */
const ONE = { client: 'modern', hosting: 'memory', script: 'metric' } as const;
const TWO = { ...ONE, script: 'duplicate' } as const;
const OLD = { ...ONE, client: 'legacy', legacy: 'shim' } as const;

/** The text of an option's cell. */
type Column = (find: Find, option: ListedOption) => string;
type Columns = Readonly<Record<string, Column>>;

/** The measured columns, by their heads. Two numbers in a cell stand for one and for two questions. */
const MEASURED = {
  Entered: (find) => `${find(ONE).entries}× / ${find(TWO).entries}×`,
  'Audit entries': (find) => auditEntries(find(ONE).audits, find(OLD).audits),
  'State, bytes': (find) => `${sizes(find(ONE))} / ${sizes(find(TWO))}`,
  Frames: (find) => `${find(ONE).framesHeld}`,
  'Another instance': (find) => find(ONE).otherInstance,
  'After a restart': (find) => find(ONE).restart,
  'Old client gets': (find) =>
    `${heldConnection(find)}; stateless: ${describeOutcome(find({ ...OLD, hosting: 'fleet' }))}`,
  'Cannot be asked': (find) => describeOutcome(find({ ...ONE, client: 'unaskable' })),
  'Writes, retries sent twice (`singleUse: false`)': (find) =>
    writesWhenRetried(find({ ...ONE, script: 'fixed' })),
  'Unasked answer / other state': (find) => describeForgeries(find(TWO)),
} as const satisfies Columns;

/** What each option's `package.json` says of it. Whether a hidden re-entry is safe is measured. */
const DESCRIBED: Columns = {
  'Author writes': (_find, { authorWrites, folder }) => `[${authorWrites}](${folder}/weather.ts)`,
  'SDK does': (_find, { sdkDoes }) => sdkDoes,
  'Hidden re-entry': (find, { hiddenReentry }) =>
    (hiddenReentry ? 'yes' : 'no') + (find(ONE).audits > 1 ? ', **unsafe**' : hiddenReentry ? ', safe' : ''),
  'Server state': (find) => serverState(find(ONE), heldConnection(find)),
};

const only = (...heads: readonly (keyof typeof MEASURED)[]): Columns =>
  Object.fromEntries(heads.map((head) => [head, MEASURED[head]]));

const COMPARED = { ...DESCRIBED, ...only('Old client gets', 'Entered', 'Audit entries') };

/** The columns that the comparison leaves out. */
const FURTHER = only(
  'Another instance',
  'After a restart',
  'Writes, retries sent twice (`singleUse: false`)',
  'State, bytes',
  'Cannot be asked',
  'Unasked answer / other state',
);

/** Makes every measured table in Markdown, by the name of its block in the documents. */
export function measuredTables(
  options: readonly Measured[],
  cells: readonly Cell[],
  unattended: readonly UnattendedCell[],
  undrawn: readonly UndrawnCell[],
) {
  // Variants follow the lettered options, except H's, which follows H.
  const rank = ({ id, claims }: Measured) =>
    id.length === 1 || (claims.modern.framesHeld > 0 && claims.modern.otherInstance === 'finishes') ? 0 : 1;
  const rows = [...options].sort((one, other) => rank(one) - rank(other));
  const further = tableOf(FURTHER, rows, cells).map(([name = '', ...texts]) => [
    name.replace(/\*\* .*/, '**'),
    ...texts,
  ]);
  const tables: Readonly<Record<string, Rows>> = {
    comparison: mergeRows(tableOf(COMPARED, rows, cells)),
    options: mergeRows(further),
    quadrant: quadrantTable(rows, cells),
    unattended: unattendedTable(unattended),
    undrawn: undrawnTable(undrawn),
    ...deployTables(options),
  };
  return Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, markdownTable(table)]));
}

/** Everything that is measured, with a row for each option. */
export const optionsTable = (options: readonly Identity[], cells: readonly Cell[]) =>
  tableOf(MEASURED, options, cells);

function tableOf(columns: Columns, options: readonly Identity[], cells: readonly Cell[]): Rows {
  const rows = options.map((option) => {
    const find = finder(option, cells);
    const listed = findOption(option.id) as ListedOption;
    const texts = Object.values(columns).map((column) => column(find, listed));
    return [`**${nameOf(option)}** ${option.title}`, ...texts];
  });
  return [['Option', ...Object.keys(columns)], ...rows];
}

/** Merges the rows of options with equal cells. */
const mergeRows = (table: Rows) =>
  groupBy(table, ([, ...texts]) => texts.join('|')).map((alike) => [
    alike.map(([name]) => name).join('<br>'),
    ...alike[0].slice(1),
  ]);

function serverState({ framesHeld, otherInstance }: Measurement, oldClient: string) {
  if (framesHeld > 0) return otherInstance === 'finishes' ? 'a frame, and a database' : 'a frame';
  return oldClient === 'asked' ? 'a stream to each old client' : 'none';
}

/** Server infrastructure × client: the outcome, and the options that have it. */
function quadrantTable(options: readonly Identity[], cells: readonly Cell[]): Rows {
  const cell = (words: (find: Find) => string) => {
    const wordsOf = (option: Identity) => words(finder(option, cells));
    return groupBy(options, wordsOf)
      .map((alike) => `${alike.map(nameOf).join(', ')}: ${wordsOf(alike[0])}`)
      .join('<br>');
  };
  return [
    ['Server', 'Client at 2025-11-25', 'Client at 2026-07-28'],
    ['One instance, can hold a stream', cell(heldConnection), cell((find) => describeOutcome(find(ONE)))],
    [
      'Several stateless instances',
      cell((find) => describeOutcome(find({ ...OLD, hosting: 'fleet' }))),
      cell((find) => describeOutcome(find({ ...ONE, hosting: 'fleet' }))),
    ],
  ];
}

function heldConnection(find: Find) {
  const shim = describeOutcome(find(OLD));
  const degrade = describeOutcome(find({ ...OLD, legacy: 'degrade' }));
  return shim === degrade ? shim : `${shim} by the shim (\`degrade\`: ${degrade})`;
}

/** The number of writes when each retry is delivered twice: by default, and with single use off. */
function writesWhenRetried({ retriedTwice }: Measurement) {
  if (!retriedTwice) return 'not measured';
  return `${writesOf(retriedTwice['by default'])} (${writesOf(retriedTwice.off)})`;
}

const writesOf = ({ writes, sameAnswer }: RetriedTwice) =>
  `${writes > 1 ? `**${writes}**` : writes}${sameAnswer ? '' : ', then an error'}`;

function describeForgeries({ forged }: Measurement) {
  if (!forged) return 'not measured';
  return [forged.unaskedAnswer, forged.stateOfAnotherCall]
    .map((became) => (became === 'taken' ? '**taken**' : became))
    .join(' / ');
}

function auditEntries(modern: number, old: number) {
  const count = modern > 1 ? `**${modern}**` : `${modern}`;
  return modern === old ? count : `${count} (old client: ${old})`;
}

const describeOutcome = ({ outcome }: Measurement) =>
  ({ elicited: 'asked', default: 'fallback', error: 'error', cancelled: 'cancelled' })[outcome];

const sizes = ({ stateBytes }: Measurement) =>
  stateBytes.every((bytes) => bytes === 0) ? 'none' : stateBytes.join(', ');

const finder =
  ({ id }: Identity, cells: readonly Cell[]): Find =>
  (where) => {
    const wanted = Object.entries({ ...where, option: id });
    const found = cells
      .map(({ call }) => call.measurement)
      .find((one) => wanted.every(([key, value]) => one[key as keyof Measurement] === value));
    if (!found) throw new Error(`Option ${id} was not measured in ${JSON.stringify(where)}.`);
    return found;
  };
