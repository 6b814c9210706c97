import { expect, test } from 'vitest';
import { comparable, outcomeOf, textOf } from './outcome.ts';

const reply = (parts: object) => outcomeOf({ messages: [], ms: 0, ...parts });

test('a client error without JSON is a refusal, and the error of a busy server is not', () => {
  expect(reply({ status: 413, failure: 'x' })).toMatchObject({ kind: 'rejected', status: 413 });
  for (const status of [429, 503]) {
    expect(reply({ status, failure: 'x' })).toMatchObject({ kind: 'failed', reason: `HTTP ${status}` });
    expect(reply({ status, error: { code: -32000, message: 'slow down' } }).kind).toBe('failed');
  }
  expect(reply({ status: 500, failure: 'x' }).kind).toBe('failed');
});

test('compares the parts that both eras have, without the state', () => {
  const result = { content: [{ type: 'text', text: 'Done.' }] };
  const modern = { ...result, resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: { a: 1 } };
  expect(comparable(reply({ result: modern }))).toBe(comparable(reply({ result })));
  const askedReply = (requestState: string) =>
    reply({ result: { resultType: 'input_required', inputRequests: {}, requestState } });
  expect(comparable(askedReply('a'))).toBe(comparable(askedReply('b')));
});

test('reads the words of tools, prompts and resources', () => {
  expect(textOf({ content: [{ type: 'text', text: 'a' }, { type: 'image' }] })).toBe('a');
  expect(textOf({ messages: [{ role: 'user', content: { type: 'text', text: 'b' } }] })).toBe('b');
  expect(textOf({ contents: [{ uri: 'x://', text: 'c' }] })).toBe('c');
  expect(textOf({ content: [], structuredContent: { n: 1 } })).toBe('{"n":1}');
});
