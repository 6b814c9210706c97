import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { withCall } from '../wire/call.ts';
import type { AdmittedCall } from './admitted-call.ts';
import { isSdkRejection, runHandler, runShape } from './handler-entry.ts';
import { notesOf, withNotes } from './shape-notes.ts';

const asNotEntered = <T>(outcome: T): T => withNotes(outcome, { notEntered: true });
const isNotEntered = (outcome: unknown): boolean => notesOf(outcome).notEntered === true;

/** A context that carries the record of a call. */
function contextWithRun(signal = new AbortController().signal) {
  const mcpReq = { signal } as ServerContext['mcpReq'];
  const run = { entry: 'unseen', threw: false, facts: { ctx: { mcpReq } } } as AdmittedCall;
  const ctx = withCall({ mcpReq } as ServerContext, run, mcpReq);
  return { run, ctx };
}

test('a registered shape says that its result or its error was made without the author', async () => {
  const [result, error] = [asNotEntered({ content: [] }), asNotEntered(new Error('not here'))];
  const [returns, throws] = [contextWithRun(), contextWithRun()];
  const runIn = <T>({ ctx }: typeof returns, serve: () => Promise<T>) => {
    const shape = () => runShape(ctx, shape, serve);
    return runHandler(ctx, shape, shape);
  };
  expect(await runIn(returns, async () => result)).toBe(result);
  await expect(runIn(throws, () => Promise.reject(error))).rejects.toBe(error);
  expect([returns.run.entry, throws.run.entry]).toEqual(['rejected', 'rejected']);
  // The mark is for its own shape, and goes no further.
  expect([isNotEntered(result), isNotEntered(error)]).toEqual([false, false]);
});

type Shape = () => Promise<object>;
const rejecting = (ctx: ServerContext): Shape => {
  const shape = () => runShape(ctx, shape, async () => asNotEntered({ content: [] }));
  return shape;
};

test.each<[caller: string, wrap: (shape: Shape, ctx: ServerContext) => Shape]>([
  ['a wrapper', (shape) => () => shape()],
  [
    'another shape',
    (shape, ctx) => {
      const outer = () => runShape(ctx, outer, shape);
      return outer;
    },
  ],
  [
    'its own handler',
    (shape, ctx) => {
      let runs = 0;
      const itself = (): Promise<object> =>
        runShape(ctx, itself, async () => (++runs > 1 ? asNotEntered(await shape()) : itself()));
      return itself;
    },
  ],
])('code of the author ran before a shape that %s calls', async (_caller, wrap) => {
  const { run, ctx } = contextWithRun();
  const registered = wrap(rejecting(ctx), ctx);
  expect(await runHandler(ctx, registered, registered)).toMatchObject({ content: [] });
  expect(run.entry).toBe('entered');
});

test('a handler without a run is called as it is', async () => {
  expect(await runHandler(undefined, undefined, () => 'done')).toBe('done');
  const ctx = { mcpReq: { signal: AbortSignal.abort() } } as unknown as ServerContext;
  expect(await runHandler(ctx, undefined, () => 'done')).toBe('done');
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
])('whether the SDK rejected: %s', (_what, error, isRefusal) => {
  expect(isSdkRejection(error)).toBe(isRefusal);
});
