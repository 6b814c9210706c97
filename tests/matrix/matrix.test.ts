/** Checks the invariants for every option × client × hosting × user × legacy policy, and for an old server. */

import { GUARDED } from '@mrtr/demo-approve';
import { eventsOf, hostView, type Transcript } from '@mrtr/harness/transcript';
import {
  type Cell,
  converse,
  type Measured,
  measure,
  measuredTables,
  measureOldServer,
  measureUnattended,
  type OldServerCell,
  ofOneCell,
  onceAtOldServer,
  rehearse,
  SCENARIOS,
  SELF_ANSWERING,
  sameForTheHost,
  sameFromOldServer,
  sameOnTheWire,
  TABLED,
  type UnattendedCell,
  where,
} from '@mrtr/matrix';
import { updateBlocks } from '@mrtr/matrix/documents';
import { oldServer } from '@mrtr/matrix/old-server';
import { OPTIONS } from '@mrtr/options';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cellsAmiss } from '../testkit/cells.ts';
import { LISTED, type OptionsOnPostgres, optionsOnPostgres } from '../testkit/options-on-postgres.ts';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import {
  BRIEF_CELLS_OF_AN_OPTION,
  CELLS_OF_AN_OPTION,
  expectedAtOldServer,
  expectedCells,
  expectedOfAll,
  KNOWN_OPTIONS,
  nameOfCell,
} from './expected-cells.ts';

const cells: Cell[] = [];
let oldCells: readonly OldServerCell[] = [];
let unattended: readonly UnattendedCell[] = [];

let database: OptionsOnPostgres | undefined;

const isOnPostgres = ({ id }: Pick<Measured, 'id'>) =>
  LISTED.some((listed) => listed.id === id && listed.needsPostgres);

/** H on PostgreSQL in the scenarios of the tables. `matrix.proof.ts` has it in all of them. */
const scenariosOf = (option: Pick<Measured, 'id'>) =>
  isOnPostgres(option) ? SCENARIOS.filter(({ script }) => TABLED.includes(script.name)) : SCENARIOS;

beforeAll(async () => {
  database = await optionsOnPostgres();
  const { options } = database;
  // H on PostgreSQL waits for its database most of the time. The others are measured meanwhile.
  const waiting = options.filter(isOnPostgres);
  const here = options.filter((option) => !isOnPostgres(option));
  const measureAll = async (some: readonly Measured[]) => {
    for (const option of some) cells.push(...(await measure(option, scenariosOf(option))));
  };
  await Promise.all([measureAll(waiting), measureAll(here)]);
  oldCells = await measureOldServer(oldServer);
  unattended = [
    ...(await measureUnattended(options, 'Resolved')),
    ...(await measureUnattended(GUARDED, 'Active')),
  ];
}, 180_000);
afterAll(() => database?.close(), 30_000);

describe('the cells', () => {
  const postgres = LISTED.some(({ needsPostgres }) => needsPostgres);

  it('are as many of an option as the numbers say', () => {
    expect(expectedCells('a')).toHaveLength(CELLS_OF_AN_OPTION);
    expect(expectedCells('a', 'brief')).toHaveLength(BRIEF_CELLS_OF_AN_OPTION);
  });

  it('are of every option that is known', () => {
    const listed = OPTIONS.map(({ id }) => id);
    expect(KNOWN_OPTIONS.filter((id) => !listed.includes(id))).toEqual([]);
    expect(KNOWN_OPTIONS).toHaveLength(13);
    expect(LISTED).toHaveLength(OPTIONS.length - (postgres ? 0 : 1));
  });

  it('are all measured, once each', () => {
    expect(cellsAmiss(expectedOfAll(postgres), cells.map(nameOfCell)).join('\n')).toBe('');
    expect(cells.map(({ observed }) => where(observed.observation))).toEqual(cells.map(nameOfCell));
  });

  it('have everything that is measured in them', () => {
    const here = cells.map(({ observed }) => observed.observation);
    const onMemory = here.filter(({ client, hosting }) => client === 'modern' && hosting === 'memory');
    const options = LISTED.length;
    expect(here.filter(({ otherInstance }) => otherInstance === 'not measured')).toEqual([]);
    expect(here.filter(({ restart }) => restart === 'not measured')).toEqual([]);
    // Two scripts of an option write an item, and one of them has a second round with state.
    expect(onMemory.filter(({ retriedTwice }) => retriedTwice)).toHaveLength(2 * options);
    expect(onMemory.filter(({ forged }) => forged)).toHaveLength(options);
  });

  it('at an old server are one for each script', () => {
    expect(cellsAmiss(expectedAtOldServer(oldServer.id), oldCells.map(nameOfCell)).join('\n')).toBe('');
    expect(oldCells).toHaveLength(13);
  });
});

it('records transcripts that fit their schema', () => {
  expect(schemaMistakes(cells.map(({ observed }) => observed.conversation))).toEqual([]);
});

it('gives a modern client the same results under another legacy policy', async () => {
  const asked = SCENARIOS.filter(
    ({ client, hosting, script }) =>
      client === 'modern' && hosting === 'memory' && script.name === 'duplicate',
  );
  for (const option of database?.options ?? []) {
    for (const scenario of asked) {
      const [shim, degrade] = await Promise.all(
        (['shim', 'degrade'] as const).map((legacy) => rehearse(option, { ...scenario, legacy })),
      );
      expect(hostView(degrade as Transcript), option.id).toEqual(hostView(shim as Transcript));
    }
  }
});

describe.each(['modern', 'mute', 'legacy'] as const)('%s client', (client) => {
  describe.each(['memory', 'fleet'] as const)('on %s', (hosting) => {
    const here = () =>
      cells.filter(({ scenario }) => scenario.client === client && scenario.hosting === hosting);

    it('shows the host application the same with every option', () => {
      expect(sameForTheHost(here()).join('\n')).toBe('');
    });
    it('puts the same on the wire, but for requestState', () => {
      expect(sameOnTheWire(here()).join('\n')).toBe('');
    });
    it.each(OPTIONS.map(({ id }) => id))('option %s does what it claims', (id) => {
      const own = here().filter(({ observed }) => observed.observation.option === id);
      if (LISTED.some((listed) => listed.id === id)) expect(own).not.toEqual([]);
      expect(own.flatMap(ofOneCell).join('\n')).toBe('');
    });
  });
});

describe('a client that answers by itself', () => {
  /** The rows of the table that it takes in. */
  const takenIn = (client: string) =>
    unattended.flatMap(({ subject, client: one, writes }) => (one === client && writes > 0 ? [subject] : []));
  const names = (rows: readonly Pick<Measured, 'id' | 'name'>[]) =>
    rows.map(({ id, name = id.toUpperCase() }) => name);

  it('is measured at every option, and at every approval in G and J, once each', () => {
    const rows = [...names(database?.options ?? []), ...names(GUARDED)];
    expect(unattended.map(({ subject, client }) => `${subject}, ${client}`)).toEqual(
      rows.flatMap((row) => SELF_ANSWERING.map((client) => `${row}, ${client}`)),
    );
    expect(SELF_ANSWERING).toHaveLength(4);
    expect(names(GUARDED)).toHaveLength(6);
    expect(unattended.filter(({ questions }) => questions === 0)).toEqual([]);
  });

  it('takes in no form with an acceptance without content, or by declining', () => {
    expect([takenIn('an empty acceptance'), takenIn('decline everything')]).toEqual([[], []]);
  });

  it('takes in every option with the first value that fits, and no approval', () => {
    expect(takenIn('the first value that fits')).toEqual(names(database?.options ?? []));
  });

  it('takes in every form with the affirmative value, and no page', () => {
    const forms = names(GUARDED).filter((name) => !name.includes('approvalPage'));
    expect(forms).toHaveLength(4);
    expect(takenIn('the affirmative value')).toEqual([...names(database?.options ?? []), ...forms]);
  });
});

describe('a modern client at an old server', () => {
  it.each(OPTIONS.map(({ id }) => id))('shows its application the same as option %s', (id) => {
    const own = cells.filter(({ observed }) => observed.observation.option === id);
    expect(sameFromOldServer(oldCells, own).join('\n')).toBe('');
  });

  it('makes one request, enters the handler once, and has its effects once', () => {
    expect(oldCells.flatMap(onceAtOldServer).join('\n')).toBe('');
  });

  it.each([
    ['modern-only', /did not offer pinned protocol version 2026-07-28/],
    ['mute', /Client does not support form elicitation/],
  ] as const)('gets a clear error when it cannot be served (%s)', async (client, message) => {
    const { events, end } = await converse({
      subject: oldServer,
      client,
      hosting: 'memory',
      legacy: 'shim',
      call: {
        method: 'tools/call',
        params: { name: 'resolve_work_item', arguments: { id: 4522, state: 'Resolved' } },
      },
      user: () => ({ action: 'cancel' }),
    });
    expect(end.error?.message ?? JSON.stringify(end.result)).toMatch(message);
    expect(eventsOf('effect', events)).toEqual([]);
  });
});

it('every generated block of the documents is up to date; `pnpm matrix --write` brings it up to date', async () => {
  const tables = measuredTables(database?.options ?? [], cells, oldCells, unattended);
  expect(await updateBlocks(tables, { write: false })).toEqual([]);
}, 60_000);
