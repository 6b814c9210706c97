import { channel } from 'node:diagnostics_channel';
import { InvalidOption, type Receipt } from '@mrtr/core';
import type { Events } from '@mrtr/core/events';
import { publish } from '@mrtr/core/internal';
import { Deferred } from '@mrtr/harness/internal';
import { SpanStatusCode } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { MAX_CALLS, type ObserverOptions } from './recent-calls.ts';
import { traceMrtr } from './trace-mrtr.ts';

const CALL = { method: 'tools/call', target: 'deploy' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  [{ ttl: 5 }, "traceMrtr: there is no option 'ttl'. Did you mean 'ttlSeconds'?"],
  [{ ttlSeconds: Number.NaN }, 'traceMrtr: ttlSeconds must be a whole number from 1 to 2147483; it is NaN.'],
  [{ maxTracedCalls: 5 }, "traceMrtr: the option 'maxTracedCalls' is gone. It is fixed: 10000 calls."],
])('the options %j are rejected', (options, message) => {
  expect(() => traceInMemory(options as object)).toThrow(new InvalidOption(message));
});

/** A tracer in memory, and its ended spans. */
function traceInMemory(options?: ObserverOptions) {
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

type Round = Partial<Events['mrtr:round']> & { readonly asks?: boolean; readonly within?: () => unknown };

/** Publishes a round of `call`, as the boundary does. With `asks` it ends with a question. */
function round({ asks = false, within = () => {}, outcome, ...start }: Round = {}): Promise<void> {
  const event = { ...CALL, call: 'c', round: 1, ...start };
  const { call, method, target } = event;
  return channel('mrtr:round').runStores({ ...event, phase: 'start' }, async () => {
    await within();
    if (asks) publish('mrtr:state', { call, method, target, phase: 'sealed', bytes: 89 });
    const ending = outcome ?? (asks ? 'input_required' : 'complete');
    channel('mrtr:round').publish({
      call,
      method,
      target,
      phase: 'end',
      round: event.round,
      outcome: ending,
    });
  });
}

const parentOf = ({ parentSpanContext }: ReadableSpan) => parentSpanContext?.spanId;
const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId;
const outcomeOf = ({ attributes }: ReadableSpan) => attributes['mrtr.outcome'];

test('two rounds of one call are children of one span, with the events of each', async () => {
  const { calls, rounds } = traceInMemory();
  await round({
    asks: true,
    within: () => {
      publish('mrtr:handler', { call: 'c', shape: 'once', target: 'deploy', part: 'handler' });
      publish('mrtr:handler', { call: 'c', target: 'deploy', part: 'step', name: 'first' });
      publish('mrtr:effect', { call: 'c', shape: 'once', key: 'ticket', phase: 'ran' });
      publish('mrtr:ask', { call: 'c', target: 'deploy', keys: ['sure'], live: false });
    },
  });
  expect(calls()).toEqual([]);
  await round({ round: 2 });
  const [call] = calls();
  expect(calls()).toHaveLength(1);
  expect(call).toMatchObject({
    name: 'tools/call deploy',
    attributes: {
      'mcp.method.name': 'tools/call',
      'mrtr.call': 'c',
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
      { name: 'mrtr.handler', 'mrtr.shape': 'once', 'mrtr.part': 'handler' },
      { name: 'mrtr.handler', 'mrtr.shape': 'plain', 'mrtr.part': 'step', 'mrtr.name': 'first' },
      { name: 'mrtr.effect', 'mrtr.key': 'ticket', 'mrtr.phase': 'ran' },
      { name: 'mrtr.ask', 'mrtr.keys': ['sure'], 'mrtr.live': false },
      { name: 'mrtr.state', 'mrtr.phase': 'sealed', 'mrtr.bytes': 89 },
    ],
    [],
  ]);
});

test('an approval is an event with the id and the assurance of its receipt, and without its words', async () => {
  const { rounds } = traceInMemory();
  const receipt: Receipt = {
    ...{ id: 'r', words: 'Pay “secret”?', wordsDigest: 'd', assurance: 'page', call: 'c', tool: 'deploy' },
    ...{ argumentsDigest: 'a', pseudonym: 'p', askedAt: 1, answeredAt: 2 },
  };
  await round({
    within: () => {
      publish('mrtr:approval', { outcome: 'declined', call: 'c', target: 'deploy' });
      publish('mrtr:approval', { outcome: 'approved', call: 'c', target: 'deploy', receipt });
    },
  });
  const events = rounds().flatMap((span) => span.events);
  expect(events.map(({ name, attributes }) => ({ name, ...attributes }))).toEqual([
    { name: 'mrtr.approval', 'mrtr.outcome': 'declined' },
    { name: 'mrtr.approval', 'mrtr.outcome': 'approved', 'mrtr.receipt': 'r', 'mrtr.assurance': 'page' },
  ]);
});

test('events of rounds that run at the same time do not mix', async () => {
  const { rounds } = traceInMemory();
  const effect = (key: string) => async () => {
    await Promise.resolve();
    publish('mrtr:effect', { call: key, shape: 'once', key, phase: 'ran' });
  };
  await Promise.all(['a', 'b'].map((call) => round({ call, within: effect(call) })));
  expect(rounds().map(({ events }) => events.map(({ attributes }) => attributes?.['mrtr.key']))).toEqual([
    ['a'],
    ['b'],
  ]);
});

test('a round that is presented again after its call has ended has its own span, linked to the first', async () => {
  const { calls } = traceInMemory();
  await round({ asks: true });
  await round({ round: 2 });
  await round({ round: 2 });
  const [first, second] = calls();
  expect(calls()).toHaveLength(2);
  expect(second?.links.map(({ context }) => context.spanId)).toEqual([idOf(first)]);
});

test('a round that is presented twice at once is two rounds of one call, which ends with the last of them', async () => {
  const { calls, rounds } = traceInMemory();
  await round({ asks: true });
  await Promise.all([round({ round: 2 }), round({ round: 2 })]);
  expect(rounds()).toHaveLength(3);
  expect(calls().map(({ attributes }) => attributes['mrtr.rounds'])).toEqual([3]);
});

test('a call that began in another process has its own span, which names its first round here', async () => {
  const { calls } = traceInMemory();
  await round({ round: 3 });
  expect(calls()[0]?.attributes).toMatchObject({ 'mrtr.call': 'c', 'mrtr.first_round': 3, 'mrtr.rounds': 1 });
});

test('rejected state has its own span, with an error and its reason', () => {
  const { spans } = traceInMemory();
  publish('mrtr:rejection', { ...CALL, bytes: 12, reason: 'invalid', detail: 'tampered' });
  expect(spans()).toHaveLength(1);
  expect(spans()[0]).toMatchObject({
    status: { code: SpanStatusCode.ERROR, message: 'requestState rejected: invalid' },
    events: [{ name: 'mrtr.rejection', attributes: { 'mrtr.reason': 'invalid', 'mrtr.detail': 'tampered' } }],
  });
});

test('a client’s trace context is the parent of the call, if it is valid', async () => {
  const { calls } = traceInMemory();
  const trace1 = '0af7651916cd43dd8448eb211c80319c';
  const [trace, zero, version] = [`00-${trace1}`, `00-${'0'.repeat(32)}`, `ff-${trace1}`];
  for (const context of [trace, zero, version])
    await round({ traceparent: `${context}-b7ad6b7169203331-01` });
  await round({ traceparent: 'nonsense' });
  expect(calls().map(parentOf)).toEqual(['b7ad6b7169203331', undefined, undefined, undefined]);
  expect(calls()[0]?.spanContext().traceId).toBe(trace1);
});

test('a later round is linked to the trace of its own request', async () => {
  const { calls, rounds } = traceInMemory();
  await round({ asks: true, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' });
  await round({
    round: 2,
    traceparent: '00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01',
  });
  expect(calls()).toHaveLength(1);
  expect(rounds()[1]?.links.map(({ context }) => context.spanId)).toEqual(['c7ad6b7169203331']);
});

test('a call whose client does not return ends as abandoned after its time to live', async () => {
  const { calls } = traceInMemory({ ttlSeconds: 60 });
  await round({ asks: true });
  vi.advanceTimersByTime(59_000);
  expect(calls()).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(calls().map(outcomeOf)).toEqual(['abandoned']);
});

test('above 10 000 waiting calls, the one that has waited longest ends as abandoned', async () => {
  const { calls } = traceInMemory();
  for (const call of ['one', 'two', 'three']) await round({ call, asks: true, target: call });
  for (let n = 3; n <= MAX_CALLS; n++) await round({ call: `${n}`, asks: true });
  expect(calls().map(({ name }) => name)).toEqual(['tools/call one']);
  await round({ call: 'three', round: 2 });
  expect(calls().map(outcomeOf)).toEqual(['abandoned', 'complete']);
});

test('a round that fails fails its call', async () => {
  const { spans } = traceInMemory();
  await round({ outcome: 'error' });
  expect(spans().map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.ERROR]);
});

test('the end of tracing ends every span, and later rounds have none', async () => {
  const { stop, spans, calls } = traceInMemory();
  await round({ asks: true });
  const finished = new Deferred();
  const running = round({ call: 'slow', target: 'slow', within: () => finished.promise });
  stop();
  expect(calls().map(outcomeOf)).toEqual(['unobserved', 'unobserved']);
  const before = spans().length;
  finished.open();
  await running;
  await round();
  expect(spans()).toHaveLength(before);
});

test('a long target is cut, and a resource is not in the name', async () => {
  const { calls } = traceInMemory();
  await round({ target: 'x'.repeat(5000) });
  await round({ method: 'resources/read', target: 'config://a' });
  expect(calls().map(({ name }) => name.length)).toEqual([
    'tools/call '.length + 100,
    'resources/read'.length,
  ]);
});
