import type { Subject } from '@mrtr/harness';
import { expect, test } from 'vitest';
import type { Settings } from './args.ts';
import {
  headingOf,
  IN_SHAPES_NAMES,
  loadOptions,
  loadSubjects,
  NAMES,
  OPTION_NAMES,
  shapesOf,
  titleOf,
} from './catalog.ts';
import { diagram } from './diagram.ts';
import { columns } from './printable.ts';
import { play } from './run-demo.ts';
import { type Scene, scenesOf } from './scene.ts';

const SETTINGS: Settings = {
  tool: 'weather',
  client: 'modern',
  hosting: 'memory',
  answer: 'metric',
  legacy: 'degrade',
  json: false,
};

test("the titles that are known early are the options' own", async () => {
  const single = NAMES.filter((name) => shapesOf(name).length === 0);
  const loaded = await Promise.all(
    single.map(async (name) => (await loadSubjects(name)).map(({ title }) => title)),
  );
  expect(single.map((name) => [titleOf(name)])).toEqual(loaded);
  expect((await loadOptions()).map(({ id }) => `option-${id}`)).toEqual(OPTION_NAMES);
});

test("the letters that are known early are the demos' own, and --shape picks one of them", async () => {
  for (const name of IN_SHAPES_NAMES) {
    expect((await loadSubjects(name)).map(({ id }) => id)).toEqual(shapesOf(name));
    for (const shape of shapesOf(name)) {
      expect((await loadSubjects(name, shape)).map(({ id }) => id)).toEqual([shape]);
    }
  }
});

test('a heading leaves room for what it was run on', () => {
  for (const name of NAMES) expect(columns(headingOf(name))).toBeLessThanOrEqual(39);
});

test('a heading says what one will see', () => {
  expect(headingOf('option-f')).toBe('option F · once');
  expect(headingOf('option-h', 'postgres')).toBe('option H on PostgreSQL');
  expect(headingOf('basic')).toBe('basic · one question, one retry');
});

const PLAYED = NAMES.flatMap((name) =>
  [
    { answer: 'nonsense', tool: 'work-item' } as const,
    { answer: 'imperial', hosting: 'fleet' } as const,
    { answer: 'decline', client: 'legacy', legacy: 'shim' } as const,
    { answer: 'cancel', client: 'legacy', hosting: 'fleet' } as const,
    { answer: 'metric', client: 'modern-only' } as const,
  ].map((differing) => ({ name, ...SETTINGS, ...differing })),
);

test.each(PLAYED)(
  '$name, $answer, $client, $hosting is drawn within 80 columns',
  async ({ name, ...settings }) => {
    for (const subject of await loadSubjects(name)) {
      for (const scene of scenesOf(name, settings)) {
        const conversation = await play(subject, settings, scene);
        expect(conversation.transcript.length).toBeGreaterThan(1);
        for (const line of diagram(conversation, scene.effect)) expect(columns(line)).toBeLessThanOrEqual(80);
      }
    }
  },
);

test.each([
  ['basic', 'metric', 'Deployed to production.'],
  ['basic', 'nonsense', 'Deployed to production.'],
  ['basic', 'imperial', 'Cancelled.'],
  ['basic', 'decline', 'Cancelled.'],
  ['basic-multiround', 'metric', '#4522 resolved as Duplicate of #4301.'],
  ['basic-multiround', 'nonsense', '#4522 resolved as Duplicate of #4301.'],
  ['basic-multiround', 'imperial', '#4522 resolved as Fixed.'],
  ['basic-multiround', 'cancel', 'Cancelled.'],
  ['option-f', 'imperial', 'Weather in Tokyo: 72°F, partly cloudy.'],
] as const)('%s with the answer %s ends in %s', async (name, answer, text) => {
  for (const hosting of ['memory', 'fleet'] as const) {
    const settings = { ...SETTINGS, answer, hosting };
    const [subject] = await loadSubjects(name);
    const [scene] = scenesOf(name, settings);
    const { result } = await play(subject as Subject, settings, scene as Scene);
    expect(result?.content).toEqual([{ type: 'text', text }]);
  }
});
