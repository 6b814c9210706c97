import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { elicitation } from './elicitation.ts';
import { listRoots, sampling } from './model-and-roots.ts';
import { isQuestion, isQuestions, questionDigest } from './question.ts';

const sure = elicitation('Sure?', z.object({ sure: z.boolean() }));

test('the digest covers the method: the same parameters under another method are another question', () => {
  const { request } = sure;
  const digests = [
    request,
    { ...request, method: 'roots/list' },
    sampling({ messages: [], maxTokens: 1 }).request,
  ];
  expect(new Set(digests.map((each) => questionDigest(each as typeof request))).size).toBe(3);
  expect(listRoots().digest).toBe(listRoots().digest);
});

test('a request that was parsed from JSON has the digest of its question', () => {
  expect(questionDigest(JSON.parse(JSON.stringify(sure.request)))).toBe(sure.digest);
});

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

test('a record of questions has at least one, and nothing else', () => {
  const roots = listRoots();
  expect([{ sure }, { a: sure, b: roots }].map(isQuestions)).toEqual([true, true]);
  const others = [{}, sure, { sure, no: 1 }, { sure: sure.request }, null, undefined, 'sure'];
  expect(others.map(isQuestions)).toEqual(others.map(() => false));
});

test('a second copy of this module knows the questions of the first', async () => {
  vi.resetModules();
  const copy = await import('./question.ts');
  expect(copy.isQuestion).not.toBe(isQuestion);
  expect(copy.isQuestion(sure)).toBe(true);
});
