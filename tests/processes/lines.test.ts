/** The lines of the authors' files that ran in each round, measured in another process. */
import { readFileSync } from 'node:fs';
import { callSubject, findScript } from '@mrtr/comparison/calls';
import { addressOf, findOption, type ListedOption, loadOption } from '@mrtr/comparison/options';
import { eventsOf, type Lines, type Transcript } from '@mrtr/harness/transcript';
import { requestOf } from '@mrtr/matrix';
import {
  createDatabase,
  type Database,
  type InstanceProcess,
  processFleet,
  startInstance,
} from '@mrtr/matrix/processes';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { schemaMistakes } from '../testkit/transcript-schema.ts';

let database: Database;
let instance: InstanceProcess;

beforeAll(async () => {
  database = createDatabase();
  instance = await startInstance(database);
});
afterAll(async () => {
  await instance.stop();
  database.close();
});

async function callOf(id: string): Promise<Transcript> {
  const listed = findOption(id) as ListedOption;
  const where = {
    client: 'modern',
    hosting: 'http',
    legacy: 'shim',
    script: findScript('metric'),
  } as const;
  return callSubject(requestOf(await loadOption(listed), where), async (context) => {
    const fleet = processFleet(database, context);
    const key = Buffer.from(context.key).toString('base64');
    const serving = { legacy: 'shim', serve: 'sessions', countLines: true } as const;
    await fleet.open('i1', instance, (place) =>
      instance.open(place, { module: addressOf(listed), key, ...serving }),
    );
    return fleet;
  });
}

/** The runs of the code that begins with `text`, in each stretch of the call. */
function countsOf(folder: string, text: string, transcript: Transcript): number[] {
  const file = `demos/option-${folder}/weather.ts`;
  const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split('\n');
  const row = source.findIndex((line) => line.includes(text));
  const column = (source[row]?.indexOf(text) ?? -1) + 1;
  expect(column).toBeGreaterThan(0);
  return eventsOf('lines', transcript.events).map(({ files }) => countIn(files[file], row + 1, column));
}

function countIn(lines: Lines | undefined, line: number, column: number): number {
  const run = lines?.[line] ?? 0;
  // Code before the first part of a line belongs to that part.
  return typeof run === 'number' ? run : ((run.findLast(([from]) => from <= column) ?? run[0])?.[1] ?? 0);
}

/** The stretches in which the code ran, once each. Each write ends a stretch, and so does the round. */
function stretchesOf(folder: string, text: string, transcript: Transcript): number[] {
  const counts = countsOf(folder, text, transcript);
  expect(Math.max(...counts)).toBe(1);
  return counts.flatMap((count, stretch) => (count > 0 ? [stretch] : []));
}

test("B's audit line runs twice, once in each round", async () => {
  const transcript = await callOf('b');
  // Stretches: the write, the question; the write again, the end.
  expect(stretchesOf('b-await', 'world.audit.record', transcript)).toEqual([0, 2]);
  expect(stretchesOf('b-await', 'return textResult', transcript)).toEqual([3]);
  expect(schemaMistakes([transcript])).toEqual([]);
});

test("F's line runs in each round, and the effect on it once", async () => {
  const transcript = await callOf('f');
  const lines = stretchesOf('f-once', "await ctx.once('audit'", transcript);
  // A call's place is its name.
  const effects = stretchesOf('f-once', 'record(location)', transcript);
  const asks = stretchesOf('f-once', 'return ask', transcript);
  expect([lines.length, effects.length, asks.length]).toEqual([2, 1, 1]);
  // The question goes out at the end of the first round.
  expect(effects[0]).toBeLessThan(lines[1] as number);
  expect(asks[0]).toBeLessThan(lines[1] as number);
});

test("H's lines above its question run in the first round, and those below in the second", async () => {
  const transcript = await callOf('h');
  expect(stretchesOf('h-linear', 'world.audit.record', transcript)).toEqual([0]);
  expect(stretchesOf('h-linear', 'return textResult', transcript)).toEqual([2]);
});

test.each([
  // Publishes nothing at its end.
  ['e-bare', 'return text(describeWeather('],
  ['b', 'return textResult('],
  ['h', 'return textResult('],
])('the last lines of %s stand before its answer', async (id, text) => {
  const { events } = await callOf(id);
  const kinds = events.map(({ kind }) => kind);
  expect(kinds.slice(kinds.lastIndexOf('lines'))).toEqual(['lines', 'message']);
  const [file, line = 0] = eventsOf('lines', events).at(-1)?.order?.at(-1) ?? [];
  const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split('\n');
  expect(source[line - 1]).toContain(text);
});
