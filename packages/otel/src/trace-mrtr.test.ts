import { publish, publishAround, type RoundEvent } from '@mrtr/core';
import { SpanStatusCode } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type TraceOptions, traceMrtr } from './trace-mrtr.ts';

const CALL = { method: 'tools/call', target: 'deploy' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A tracer in memory, and what has ended. */
function traced(options?: TraceOptions) {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer('test');
  const stop = traceMrtr(tracer, options);
  onTestFinished(stop);
  const spans = () => exporter.getFinishedSpans();
  const calls = () => spans().filter(({ name }) => !name.startsWith('round'));
  const rounds = () => spans().filter(({ name }) => name.startsWith('round'));
  return { tracer, stop, spans, calls, rounds };
}

type Told = Partial<RoundEvent> & { readonly seals?: string; readonly within?: () => unknown };

/** A round as the boundary tells it. */
function round({ seals, within = () => {}, outcome, ...start }: Told = {}): Promise<void> {
  const number = { ...CALL, round: 1, ...start };
  return publishAround({ ...number, phase: 'start' }, async () => {
    await within();
    if (seals !== undefined) publish('mrtr:state', { ...CALL, phase: 'sealed', bytes: 89, id: seals });
    const ending = outcome ?? (seals === undefined ? 'complete' : 'input_required');
    publish('mrtr:round', { ...CALL, phase: 'end', round: number.round, outcome: ending, shape: 'once' });
  });
}

const parentOf = ({ parentSpanContext }: ReadableSpan) => parentSpanContext?.spanId;
const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId;
const outcomeOf = ({ attributes }: ReadableSpan) => attributes['mrtr.outcome'];

test('two rounds that a state joins are children of one call, with what happened in each', async () => {
  const { calls, rounds } = traced();
  await round({
    seals: 'one',
    within: () => {
      publish('mrtr:handler', { shape: 'once', target: 'deploy' });
      publish('mrtr:effect', { shape: 'once', key: 'ticket', phase: 'ran' });
      publish('mrtr:ask', { target: 'deploy', keys: ['sure'], live: false });
    },
  });
  expect(calls()).toEqual([]);
  await round({ round: 2, continues: 'one' });
  const [call] = calls();
  expect(calls()).toHaveLength(1);
  expect(call).toMatchObject({
    name: 'tools/call deploy',
    attributes: {
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'deploy',
      'mrtr.rounds': 2,
      'mrtr.outcome': 'complete',
    },
  });
  expect(rounds().map(parentOf)).toEqual([idOf(call), idOf(call)]);
  expect(
    rounds().map(({ events }) => events.map(({ name, attributes }) => ({ name, ...attributes }))),
  ).toEqual([
    [
      { name: 'mrtr.handler', 'mrtr.shape': 'once' },
      { name: 'mrtr.effect', 'mrtr.key': 'ticket', 'mrtr.phase': 'ran' },
      { name: 'mrtr.ask', 'mrtr.keys': ['sure'], 'mrtr.live': false },
      { name: 'mrtr.state', 'mrtr.phase': 'sealed', 'mrtr.bytes': 89 },
    ],
    [{ name: 'mrtr.state', 'mrtr.phase': 'opened' }],
  ]);
});

test('events of rounds that run side by side do not mix', async () => {
  const { rounds } = traced();
  const effect = (key: string) => async () => {
    await Promise.resolve();
    publish('mrtr:effect', { shape: 'once', key, phase: 'ran' });
  };
  await Promise.all([round({ within: effect('a') }), round({ within: effect('b') })]);
  expect(rounds().map(({ events }) => events.map(({ attributes }) => attributes?.['mrtr.key']))).toEqual([
    ['a'],
    ['b'],
  ]);
});

test('a question without state ends the call’s span: nothing tells which later round belongs to it', async () => {
  const { calls } = traced();
  await round({ outcome: 'input_required' });
  await round();
  expect(calls().map(outcomeOf)).toEqual(['input_required', 'complete']);
});

test('a state presented a second time is a call of its own, linked to the one that it repeats', async () => {
  const { calls } = traced();
  await round({ seals: 'one' });
  await round({ round: 2, continues: 'one' });
  await round({ round: 2, continues: 'one' });
  const [first, second] = calls();
  expect(calls()).toHaveLength(2);
  expect(second?.links.map(({ context }) => context.spanId)).toEqual([idOf(first)]);
});

test('a state presented twice at once is two rounds of one call, which ends with the last of them', async () => {
  const { calls, rounds } = traced();
  await round({ seals: 'one' });
  await Promise.all([round({ round: 2, continues: 'one' }), round({ round: 2, continues: 'one' })]);
  expect(rounds()).toHaveLength(3);
  expect(calls().map(({ attributes }) => attributes['mrtr.rounds'])).toEqual([3]);
});

test('a round that another process began is a call of its own, which says where it came in', async () => {
  const { calls, rounds } = traced();
  await round({ round: 3, continues: 'of another instance' });
  expect(calls()[0]?.attributes).toMatchObject({ 'mrtr.first_round': 3, 'mrtr.rounds': 1 });
  expect(rounds()[0]?.attributes).toMatchObject({ 'mrtr.state.opened': 'of another instance' });
});

test('a rejected state is a span alone, in error, with the reason', () => {
  const { spans } = traced();
  publish('mrtr:state', { ...CALL, phase: 'rejected', bytes: 12, reason: 'tampered' });
  expect(spans()).toHaveLength(1);
  expect(spans()[0]).toMatchObject({
    status: { code: SpanStatusCode.ERROR, message: 'requestState rejected: tampered' },
    events: [{ name: 'mrtr.state', attributes: { 'mrtr.phase': 'rejected', 'mrtr.reason': 'tampered' } }],
  });
});

test('a client’s trace context is the parent of the call; what cannot be read is none', async () => {
  const { calls } = traced();
  const trace1 = '0af7651916cd43dd8448eb211c80319c';
  await round({ traceparent: `00-${trace1}-b7ad6b7169203331-01` });
  await round({ traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` });
  await round({ traceparent: `ff-${trace1}-b7ad6b7169203331-01` });
  await round({ traceparent: 'nonsense' });
  expect(calls().map(parentOf)).toEqual(['b7ad6b7169203331', undefined, undefined, undefined]);
  expect(calls()[0]?.spanContext().traceId).toBe(trace1);
});

test('a later round is linked to the trace that its own request came in', async () => {
  const { calls, rounds } = traced();
  await round({ seals: 'one', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' });
  await round({
    round: 2,
    continues: 'one',
    traceparent: '00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01',
  });
  expect(calls()).toHaveLength(1);
  expect(rounds()[1]?.links.map(({ context }) => context.spanId)).toEqual(['c7ad6b7169203331']);
});

test('a call whose client never comes back ends as abandoned when its time is over', async () => {
  const { calls } = traced({ ttlSeconds: 60 });
  await round({ seals: 'one' });
  vi.advanceTimersByTime(59_000);
  expect(calls()).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(calls().map(outcomeOf)).toEqual(['abandoned']);
});

test('beyond the bound, the call that has waited longest is given up', async () => {
  const { calls } = traced({ maxStates: 2 });
  for (const seals of ['one', 'two', 'three']) await round({ seals, target: seals });
  expect(calls().map(({ name }) => name)).toEqual(['tools/call one']);
  await round({ round: 2, continues: 'three' });
  expect(calls().map(outcomeOf)).toEqual(['abandoned', 'complete']);
});

test('a round that fails fails its call', async () => {
  const { spans } = traced();
  await round({ outcome: 'error' });
  expect(spans().map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.ERROR]);
});

test('the end of tracing ends every span, and nothing is heard afterwards', async () => {
  const { stop, spans, calls } = traced();
  await round({ seals: 'one' });
  let finish = () => {};
  const running = round({
    target: 'slow',
    within: () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  });
  stop();
  expect(calls().map(outcomeOf)).toEqual(['unobserved', 'unobserved']);
  const before = spans().length;
  finish();
  await running;
  await round();
  expect(spans()).toHaveLength(before);
});

test('a name as long as a client likes is cut, and a resource is not in the name', async () => {
  const { calls } = traced();
  await round({ target: 'x'.repeat(5000) });
  await round({ method: 'resources/read', target: 'config://a' });
  expect(calls().map(({ name }) => name.length)).toEqual([
    'tools/call '.length + 100,
    'resources/read'.length,
  ]);
});
