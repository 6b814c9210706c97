import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { elicitation } from './elicitation.ts';
import { listRoots, sampling } from './model-and-roots.ts';
import { isQuestion } from './question.ts';

const sure = elicitation('Sure?', z.object({ sure: z.boolean() }));

test('only elicitation, sampling and listRoots make questions', () => {
  const made = [
    sure,
    { ...sure, fallback: { sure: true } },
    sampling({ messages: [], maxTokens: 1 }),
    listRoots(),
  ];
  expect(made.map(isQuestion)).toEqual(made.map(() => true));
  const { request, digest, kind, message, read, keep } = sure;
  const others = [
    { request, digest, kind, message, read, keep },
    request,
    null,
    undefined,
    'Sure?',
    () => sure,
  ];
  expect(others.map(isQuestion)).toEqual(others.map(() => false));
});

test('a second copy of this module knows the questions of the first', async () => {
  vi.resetModules();
  const copy = await import('./question.ts');
  expect(copy.isQuestion).not.toBe(isQuestion);
  expect(copy.isQuestion(sure)).toBe(true);
});
