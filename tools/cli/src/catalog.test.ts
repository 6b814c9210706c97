import type { Subject } from '@mrtr/comparison/calls';
import { expect, test } from 'vitest';
import { DEMOS, type Demo, headingOf, loadSubjects } from './catalog.ts';
import { columns } from './printable.ts';
import { play } from './run-demo.ts';
import { type Scene, scenesOf } from './scene.ts';
import type { Settings } from './settings.ts';

const RUNNABLE = DEMOS.filter(({ load }) => load);
const demoOf = (wanted: string) => DEMOS.find(({ name }) => name === wanted) as Demo;

const SETTINGS: Settings = {
  tool: 'weather',
  client: 'modern',
  hosting: 'memory',
  answer: 'metric',
  legacy: 'degrade',
  format: 'drawing',
};

test("the letters and titles that are known early are the demos' own, and --shape picks one of them", async () => {
  for (const demo of RUNNABLE) {
    const subjects = await loadSubjects(demo);
    if (!demo.shapes) expect(subjects.map(({ title }) => title)).toEqual([demo.title]);
    if (demo.shapes) expect(subjects.map(({ id }) => id)).toEqual(demo.shapes);
    for (const shape of demo.shapes ?? []) {
      expect((await loadSubjects(demo, shape)).map(({ id }) => id)).toEqual([shape]);
    }
  }
});

test('a heading leaves room for the settings of the run', () => {
  for (const demo of RUNNABLE) expect(columns(headingOf(demo))).toBeLessThanOrEqual(39);
});

const ANSWERS = ['metric', 'imperial', 'decline', 'cancel', 'nonsense'] as const;

test.each(RUNNABLE)('$name has a reply to each of its questions, with every kind of answer', async (demo) => {
  const subjects = await loadSubjects(demo);
  const tried = ANSWERS.flatMap((answer) =>
    subjects.flatMap((subject) =>
      scenesOf(demo.name, { ...SETTINGS, answer }).map(async (scene) => {
        const { end } = await play(subject, { ...SETTINGS, answer }, scene);
        expect(end.error?.message ?? '').not.toContain('has no reply');
      }),
    ),
  );
  await Promise.all(tried);
});

test.each([
  ['basic', 'metric', 'Deployed to production.'],
  ['basic', 'nonsense', 'Deployed to production.'],
  ['basic', 'imperial', 'Nothing was deployed.'],
  ['basic', 'decline', "Cancelled: the question 'confirm' was not answered."],
  ['basic-multiround', 'metric', '#4522 resolved as Duplicate of #4301.'],
  ['basic-multiround', 'nonsense', '#4522 resolved as Duplicate of #4301.'],
  ['basic-multiround', 'imperial', '#4522 resolved as Fixed.'],
  ['basic-multiround', 'cancel', "Cancelled: the question 'resolution' was not answered."],
  ['option-f', 'imperial', 'Weather in Tokyo: 72°F, partly cloudy.'],
] as const)('%s with the answer %s ends in %s', async (name, answer, text) => {
  for (const hosting of ['memory', 'fleet'] as const) {
    const settings = { ...SETTINGS, answer, hosting };
    const [subject] = await loadSubjects(demoOf(name));
    const [scene] = scenesOf(name, settings);
    const { end } = await play(subject as Subject, settings, scene as Scene);
    expect(end.result?.content).toEqual([{ type: 'text', text }]);
  }
});
