import { inputRequired } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { hostTools, oldClient, type PostOptions } from '../admission/hosted.test-support.ts';
import type { RequestStateOptions } from '../admission/policy.ts';
import { elicitation } from '../questions/elicitation.ts';
import type { Questions } from '../questions/question.ts';
import { textResult } from '../results.ts';
import { callOf } from '../wire/call.ts';
import { readAnswer } from './read-answer.ts';

const schema = z.object({ units: z.enum(['metric', 'imperial']) });
const units = elicitation('Which units?', schema);
const METRIC = { action: 'accept', content: { units: 'metric' } };
const ACCEPTED = { kind: 'accepted', value: { units: 'metric' } };
const MISSING = { kind: 'missing' };
const EVERYTHING: PostOptions = { capabilities: { elicitation: {}, sampling: {}, roots: {} } };

/** The answers that a handler reads to `read` in the second round, after it asked `asked` in the first. */
async function readsOf(
  read: Questions,
  inputResponses: unknown,
  asked: Questions = read,
  options: RequestStateOptions = {},
): Promise<unknown> {
  let reads: unknown;
  const { post } = hostTools((server) => {
    server.registerTool('ask', {}, (ctx) => {
      if (callOf(ctx).round === 1) {
        const requests = Object.entries(asked).map(([key, { request }]) => [key, request]);
        return inputRequired({ inputRequests: Object.fromEntries(requests) });
      }
      const entries = Object.entries(read).map(([key, question]) => [key, readAnswer(ctx, key, question)]);
      reads = Object.fromEntries(entries);
      return textResult('');
    });
  }, options);
  const { result } = await post('tools/call', { name: 'ask' }, EVERYTHING);
  const retry = { name: 'ask', requestState: result?.requestState, inputResponses };
  await post('tools/call', retry, EVERYTHING);
  return reads;
}

test('a handler reads each answer of the round under its key', async () => {
  const responses = { a: METRIC, b: { action: 'decline' } };
  expect(await readsOf({ a: units, b: units, c: units }, responses)).toEqual({
    a: ACCEPTED,
    b: { kind: 'declined' },
    c: MISSING,
  });
});

test('an answer under a key that was not asked is missing', async () => {
  expect(await readsOf({ units }, { units: METRIC }, { other: units })).toEqual({ units: MISSING });
});

test('an answer to one text does not count for another text under the same key', async () => {
  const text = fc.string({ minLength: 1, maxLength: 8, unit: 'binary' });
  await fc.assert(
    fc.asyncProperty(text, text, async (one, other) => {
      const asked = { units: elicitation(one, schema) };
      const read = { units: elicitation(other, schema) };
      const reads = await readsOf(read, { units: METRIC }, asked);
      expect(reads).toEqual({ units: one === other ? ACCEPTED : MISSING });
    }),
    {
      numRuns: 40,
      examples: [
        ['Delete a?', 'Delete b?'],
        ['a', 'a'],
      ],
    },
  );
});

test.each<[string, RequestStateOptions, unknown]>([
  ['drops unasked answers', {}, MISSING],
  ['accepts unasked answers of this tool', { unaskedAnswers: ['ask'] }, ACCEPTED],
  ['accepts unasked answers of another tool', { unaskedAnswers: ['other'] }, MISSING],
])('where the policy %s, an answer to other words reads accordingly', async (_what, options, answer) => {
  const asked = { units: elicitation('Other words?', schema) };
  expect(await readsOf({ units }, { units: METRIC }, asked, options)).toEqual({ units: answer });
});

const FALLBACK = { units: 'imperial' } as const;
const withDefault = elicitation('Which units?', schema, { fallback: FALLBACK });

/** A tool that reads `withDefault`, and asks while it has no answer. `reads` collects the answers. */
const reading = (reads: unknown[], options: RequestStateOptions = {}) =>
  hostTools((server) => {
    server.registerTool('ask', {}, (ctx) => {
      const answer = readAnswer(ctx, 'units', withDefault);
      reads.push(answer);
      return answer.kind === 'missing'
        ? inputRequired({ inputRequests: { units: withDefault.request } })
        : textResult('');
    });
  }, options);

test('a client that cannot be asked gets `fallback`, which no unasked answer replaces', async () => {
  const reads: unknown[] = [];
  const host = reading(reads, { legacy: 'degrade' });
  await (await oldClient(host, () => METRIC)).callTool({ name: 'ask' });
  await host.post('tools/call', { name: 'ask' }, { legacy: true });
  const inputResponses = { units: METRIC };
  await host.post('tools/call', { name: 'ask', inputResponses }, { capabilities: {} });
  expect(reads).toEqual(Array(3).fill({ kind: 'accepted', value: FALLBACK }));
});
