import type { AnswerKind, Demo, DemoCall } from '@mrtr/comparison/demo';
import { OPTIONS } from '@mrtr/comparison/options';
import { expect, test } from 'vitest';
import { DEMOS, headingOf } from './catalog.ts';
import { makeDemoCall } from './run-demo.ts';
import { columns } from './terminal.ts';

const LOADED = await Promise.all(DEMOS.map(async (listed) => ({ ...listed, demo: await listed.load() })));
const RUNNABLE = LOADED.flatMap(({ demo, ...listed }) => ('draw' in demo ? [] : [{ ...listed, ...demo }]));

const IN_MEMORY = { client: 'modern', hosting: 'memory', legacy: 'degrade' } as const;

test('the demos are found in their folders: those of one call, the options, and those of several calls', () => {
  expect(DEMOS.map(({ name }) => name)).toEqual([
    ...['basic', 'basic-multiround'],
    ...new Set(OPTIONS.map(({ name }) => `option-${name.charAt(0).toLowerCase()}`)),
    ...['approve', 'prompt-and-resource', 'sampling-and-roots', 'tracing'],
  ]);
  expect(
    LOADED.filter((demo) => !RUNNABLE.some(({ name }) => name === demo.name)).map(({ name }) => name),
  ).toEqual(['approve', 'tracing']);
});

test("the letters and titles that are known early are the demos' own", () => {
  for (const { shapes, title, subjects } of RUNNABLE) {
    if (!shapes) expect(subjects.map((subject) => subject.title)).toEqual([title]);
    if (shapes) expect(subjects.map(({ id }) => id)).toEqual(shapes);
  }
});

test('a heading leaves room for the settings of the run', () => {
  for (const demo of RUNNABLE) expect(columns(headingOf(demo))).toBeLessThanOrEqual(39);
});

const ANSWERS = ['metric', 'imperial', 'decline', 'cancel', 'nonsense'] as const;

test.each(RUNNABLE)('$name has a reply to each of its questions, with every kind of answer', async (demo) => {
  const tried = ANSWERS.flatMap((answer) =>
    demo.subjects.flatMap((subject) =>
      demo.calls(answer, 'weather').map(async (demoCall) => {
        const { end } = await makeDemoCall(subject, IN_MEMORY, demoCall);
        expect(end.error?.message ?? '').not.toContain('has no reply');
      }),
    ),
  );
  await Promise.all(tried);
});

test.each<readonly [string, AnswerKind, string]>([
  ['basic', 'metric', 'Deployed to production.'],
  ['basic', 'nonsense', 'Deployed to production.'],
  ['basic', 'imperial', 'Nothing was deployed.'],
  ['basic', 'decline', "Cancelled: the question 'confirm' was not answered."],
  ['basic-multiround', 'metric', '#4522 resolved as Duplicate of #4301.'],
  ['basic-multiround', 'nonsense', '#4522 resolved as Duplicate of #4301.'],
  ['basic-multiround', 'imperial', '#4522 resolved as Fixed.'],
  ['basic-multiround', 'cancel', "Cancelled: the question 'resolution' was not answered."],
  ['option-f', 'imperial', 'Weather in Tokyo: 72°F, partly cloudy.'],
])('%s with the answer %s ends in %s', async (wanted, answer, text) => {
  const { subjects, calls } = RUNNABLE.find(({ name }) => name === wanted) as Demo;
  for (const hosting of ['memory', 'fleet'] as const) {
    const [[subject], [demoCall]] = [subjects, calls(answer, 'weather')];
    const { end } = await makeDemoCall(
      subject as Demo['subjects'][number],
      { ...IN_MEMORY, hosting },
      demoCall as DemoCall,
    );
    expect(end.result?.content).toEqual([{ type: 'text', text }]);
  }
});
