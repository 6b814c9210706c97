import type { InputRequests } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { elicitation } from '../questions/elicitation.ts';
import { listRoots, sampling } from '../questions/model-and-roots.ts';
import { askProblem } from './limits.ts';

const { request } = elicitation('Sure?', z.object({ sure: z.boolean() }));
const LIMITS = {
  round: 3,
  maxRounds: 3,
  maxQuestions: 2,
  maxStateBytes: 1000,
  askable: ['elicitation'],
} as const;
const TOO_MANY: InputRequests = { a: request, b: request, c: listRoots().request };

test('questions within all limits may go out, also in the last round, and also none', () => {
  expect(askProblem(LIMITS, { a: request, b: request })).toBeUndefined();
  expect(askProblem({ ...LIMITS, askable: [] }, {})).toBeUndefined();
});

test('the round after the last may neither ask nor keep state without a question', () => {
  const problem = { kind: 'rounds', message: 'This call still needs input after 3 rounds. Start it again.' };
  expect(askProblem({ ...LIMITS, round: 4 }, { a: request })).toEqual(problem);
  expect(askProblem({ ...LIMITS, round: 4 }, {})).toEqual(problem);
});

test('the end after the last round names the questions that were asked again and again', () => {
  const timesAsked = new Map([
    ['a', 3],
    ['b', 2],
    ['c', 1],
  ]);
  expect(askProblem({ ...LIMITS, round: 4, timesAsked }, TOO_MANY)?.message).toBe(
    "This call still needs input after 3 rounds. It asked 'a' 3 times and 'b' 2 times. Start it again.",
  );
});

test('a round may not ask more than maxQuestions questions', () => {
  expect(askProblem({ ...LIMITS, askable: ['elicitation', 'roots'] }, TOO_MANY)).toEqual({
    kind: 'questions',
    message: 'The server asks too many questions at once',
    count: 3,
  });
});

test.each([
  ['elicitation', request],
  ['sampling', sampling({ messages: [], maxTokens: 1 }).request],
  ['roots', listRoots().request],
] as const)('a client that cannot be asked for %s is not asked for it', (input, asked) => {
  const others = (['elicitation', 'sampling', 'roots'] as const).filter((kind) => kind !== input);
  expect(askProblem({ ...LIMITS, askable: others }, { asked })).toEqual({
    kind: 'unaskable',
    message: `This needs a client that can be asked (${input}), on a connection that can carry the question.`,
    input,
  });
});

test('of several problems, the rounds come first, then the number, then the kind', () => {
  const kinds = [4, 3].map((round) => askProblem({ ...LIMITS, round, askable: [] }, TOO_MANY)?.kind);
  expect(kinds).toEqual(['rounds', 'questions']);
});
