import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import {
  asNotEntered,
  type HandlerRun,
  isInvalidInputResult,
  isNotEntered,
  isSdkRejection,
  runHandler,
  withHandlerRun,
} from './handler-run.ts';

/** A context that carries a new run. */
function contextWithRun(signal = new AbortController().signal) {
  const run: HandlerRun = { entry: 'unseen', threw: false };
  const ctx = withHandlerRun({ mcpReq: { signal } } as unknown as ServerContext, run);
  return { run, ctx };
}

test('a result or an error that says so was made without the author', async () => {
  const [result, error] = [asNotEntered({ content: [] }), asNotEntered(new Error('not here'))];
  const [returns, throws] = [contextWithRun(), contextWithRun()];
  expect(await runHandler(returns.ctx, () => result)).toBe(result);
  await expect(runHandler(throws.ctx, () => Promise.reject(error))).rejects.toBe(error);
  expect([returns.run.entry, throws.run.entry]).toEqual(['rejected', 'rejected']);
});

test('a handler without a run is called as it is', async () => {
  expect(await runHandler(undefined, () => 'done')).toBe('done');
  const ctx = { mcpReq: { signal: AbortSignal.abort() } } as unknown as ServerContext;
  expect(await runHandler(ctx, () => 'done')).toBe('done');
});

test.each([[null], [undefined], ['text'], [5], [Object.freeze({})], [{}]])(
  '%o is not marked by itself',
  (outcome) => {
    expect(isNotEntered(outcome)).toBe(false);
  },
);

test('a value that cannot be marked stays unchanged', () => {
  const frozen = Object.freeze({ content: [] });
  for (const outcome of [null, undefined, 'text', frozen]) {
    expect(asNotEntered(outcome)).toBe(outcome);
    expect(isNotEntered(outcome)).toBe(false);
  }
  expect(Object.keys(asNotEntered({ a: 1 }))).toEqual(['a']);
});

test.each<[string, unknown, boolean]>([
  ['arguments that do not fit', new ProtocolError(ProtocolErrorCode.InvalidParams, 'x'), true],
  ['an unknown resource', new ProtocolError(ProtocolErrorCode.ResourceNotFound, 'x'), true],
  ['an internal error', new ProtocolError(ProtocolErrorCode.InternalError, 'x'), false],
  [
    'an error with such a code',
    Object.assign(new Error('x'), { code: ProtocolErrorCode.InvalidParams }),
    false,
  ],
])('whether the SDK refused: %s', (_what, error, isRefusal) => {
  expect(isSdkRejection(error)).toBe(isRefusal);
});

const refusedInput = [{ type: 'text', text: 'Input validation error: Invalid arguments for tool pay' }];

test.each<[string, unknown, boolean]>([
  ['the result of arguments that do not fit', { isError: true, content: refusedInput }, true],
  ['the same text as a success', { isError: false, content: refusedInput }, false],
  [
    'another error',
    { isError: true, content: [{ type: 'text', text: 'No. Input validation error: ' }] },
    false,
  ],
  ['an error without content', { isError: true }, false],
  ['an error with empty content', { isError: true, content: [] }, false],
  ['nothing', undefined, false],
])('whether the SDK refused the input: %s', (_what, result, isRefused) => {
  expect(isInvalidInputResult(result)).toBe(isRefused);
});
