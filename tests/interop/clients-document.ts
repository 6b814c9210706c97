/** The tables of docs/clients.md, made from docs/clients.json. */
import { CLIENT_BEHAVIOURS } from '@mrtr/harness/internal';
import { updateBlocks } from '@mrtr/matrix/documents';
import { markdownTable } from 'markdown-table';
import { textOf } from '../testkit/project-files.ts';

export interface Client {
  readonly client: string;
  /** The version, or the commit, that was read. */
  readonly at?: string;
  /** The day of that version, or of the run or the list. */
  readonly date?: string;
  /** The repository that was read. */
  readonly from: string;
  readonly evidence: string;
  readonly declares: string;
  /** The kinds of fields that its form draws, draws in part, and does not draw. */
  readonly draws?: string;
  readonly partly?: string;
  readonly not?: string;
  /** What it does with a field that it does not draw, or that its user left empty. */
  readonly does?: readonly string[];
  /** Files and their functions, and threads. */
  readonly sources: readonly string[];
}

export const { clients } = JSON.parse(textOf('docs/clients.json')) as { readonly clients: readonly Client[] };
export const withForm = clients.filter(({ draws }) => draws !== undefined);

type Rows = readonly (readonly string[])[];

/** Updates the tables, and returns those that were not up to date. */
export function updateClients(write: boolean): Promise<string[]> {
  const rows = { draw: countDrawn(), send: listSent(), declare: listDeclared() };
  const tables = Object.fromEntries(
    Object.entries(rows).map(([name, table]) => [
      `interop: clients ${name}`,
      markdownTable(table, { alignDelimiters: false }),
    ]),
  );
  return updateBlocks(tables, { write, only: Object.keys(tables) });
}

const listed = (kinds = '') => kinds.split(', ').filter(Boolean);
const namesIn = (some: readonly Client[]) =>
  some.map(({ client, from, at }) => (at ? `[${client}](${from}) ${at}` : client)).join(', ');

/** What a field may have, and no kind of field. */
const NO_KINDS = ['default', 'optional'];

/** How many of the forms draw each kind of field. Kinds with equal numbers have one row. */
function countDrawn(): Rows {
  const named = withForm.flatMap(({ draws, partly, not }) => [draws, partly, not].flatMap(listed));
  const kinds = new Set(named.filter((kind) => !NO_KINDS.includes(kind)));
  const rows = new Map<string, string[]>();
  for (const kind of kinds) {
    const counts = (['draws', 'partly', 'not'] as const).map(
      (part) => withForm.filter((client) => listed(client[part]).includes(kind)).length,
    );
    const key = JSON.stringify(counts);
    rows.set(key, [...(rows.get(key) ?? []), kind]);
  }
  const counted = [...rows].map(([counts, alike]) => [alike.join(', '), ...JSON.parse(counts).map(String)]);
  return [['A field', 'Drawn', 'In part', 'Not'], ...counted.sort((a, b) => Number(b[1]) - Number(a[1]))];
}

function listSent(): Rows {
  const all = new Set([...CLIENT_BEHAVIOURS, ...withForm.flatMap(({ does = [] }) => does)]);
  const rows = [...all].map((what) => [what, namesIn(withForm.filter(({ does }) => does?.includes(what)))]);
  return [['The client', 'Who does so, as read at'], ...rows];
}

function listDeclared(): Rows {
  const rows = new Map<string, Client[]>();
  for (const client of clients.filter((one) => !withForm.includes(one))) {
    const key = JSON.stringify([client.declares, client.evidence]);
    rows.set(key, [...(rows.get(key) ?? []), client]);
  }
  const joined = [...rows].map(([key, alike]) => [...JSON.parse(key), namesIn(alike)]);
  return [['Declares', 'Says', 'Clients'], ...joined];
}
