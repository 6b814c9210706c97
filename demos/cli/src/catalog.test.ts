import { expect, test } from 'vitest';
import type { Settings } from './args.ts';
import { headingOf, loadOptions, loadSubject, NAMES, OPTION_NAMES, titleOf } from './catalog.ts';
import { diagram } from './diagram.ts';
import { columns } from './printable.ts';
import { play } from './run-demo.ts';
import { sceneOf } from './scene.ts';

const SETTINGS: Settings = {
  tool: 'weather',
  client: 'modern',
  hosting: 'memory',
  answer: 'metric',
  legacy: 'degrade',
  json: false,
};

test("the titles that are known early are the options' own", async () => {
  const loaded = await Promise.all(NAMES.map(async (name) => (await loadSubject(name)).title));
  expect(NAMES.map(titleOf)).toEqual(loaded);
  expect((await loadOptions()).map(({ id }) => `option-${id}`)).toEqual(OPTION_NAMES);
});

test('a heading says what one will see', () => {
  expect(headingOf('option-f')).toBe('option F · once');
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
    const scene = sceneOf(name, settings);
    const conversation = await play(name, settings, scene);
    expect(conversation.transcript.length).toBeGreaterThan(1);
    for (const line of diagram(conversation, scene.effect)) expect(columns(line)).toBeLessThanOrEqual(80);
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
    const { result } = await play(name, settings, sceneOf(name, settings));
    expect(result?.content).toEqual([{ type: 'text', text }]);
  }
});
