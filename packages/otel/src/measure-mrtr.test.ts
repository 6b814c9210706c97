import {
  ask,
  elicitation,
  InvalidOption,
  listRoots,
  type McpServer,
  protectedServer,
  type RequestStateOptions,
  requestStatePolicy,
  textResult,
} from '@mrtr/core';
import { REJECTION_REASONS } from '@mrtr/core/events';
import { publish } from '@mrtr/core/internal';
import { InProcess } from '@mrtr/harness';
import { Deferred } from '@mrtr/harness/internal';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { measureMrtr } from './measure-mrtr.ts';
import { MAX_CALLS, type ObserverOptions } from './recent-calls.ts';

afterEach(() => void vi.useRealTimers());

/** A real meter provider, and its exported points as `metric{labels}` → value or count. */
function measureInMemory(options?: ObserverOptions) {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const stop = measureMrtr(provider.getMeter('test'), options);
  onTestFinished(async () => {
    stop();
    await provider.shutdown();
  });
  const points = async (): Promise<Record<string, number>> => {
    exporter.reset();
    await provider.forceFlush();
    const [exported] = exporter.getMetrics();
    const metrics = exported?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
    return Object.fromEntries(
      metrics.flatMap(({ descriptor, dataPoints }) =>
        (dataPoints as DataPoint<number | Histogram>[]).map(({ attributes, value }) => [
          `${descriptor.name}{${Object.entries(attributes).join()}}`,
          typeof value === 'number' ? value : value.count,
        ]),
      ),
    );
  };
  return { stop, points };
}

const COUNTERS = /^mrtr\.(?:rounds|rejections|retries\.repeated)\{/;

const sure = elicitation('Really deploy?', z.object({ sure: z.boolean() }));

function serve(options: RequestStateOptions = {}, act: (server: McpServer) => void = () => {}) {
  const policy = requestStatePolicy({ onerror: () => {}, ...options });
  const face = new InProcess(() => {
    const server = protectedServer({ name: 'shop', version: '1' }, policy);
    server.registerTool('deploy', { inputSchema: z.looseObject({}) }, (_, ctx) =>
      ctx.mcpReq.inputResponses ? textResult('Done.') : ask({ sure }),
    );
    act(server);
    return server;
  });
  onTestFinished(() => face.close());
  const post = (more: object) => face.post('tools/call', { name: 'deploy', arguments: {}, ...more });
  return { face, post };
}

test.each([
  [{ ttl: 5 }, "measureMrtr: there is no option 'ttl'. Did you mean 'ttlSeconds'?"],
  [{ maxTracedCalls: 5 }, "measureMrtr: the option 'maxTracedCalls' is gone. It is fixed: 10000 calls."],
])('the options %j are rejected', (options, message) => {
  expect(() => measureInMemory(options as object)).toThrow(new InvalidOption(message));
});

test('a call is counted from its question to its answer, its repeated retry, and its rejections', async () => {
  const { points } = measureInMemory();
  const { post } = serve();
  const { result } = await post({});
  expect(await points()).toMatchObject({
    'mrtr.rounds{mrtr.outcome,input_required}': 1,
    'mrtr.calls{mrtr.state,waiting}': 1,
    'mrtr.questions.open{mrtr.age,under_1m}': 1,
  });
  const inputResponses = { sure: { action: 'accept', content: { sure: true } } };
  const retry = { requestState: result?.requestState, inputResponses };
  await post(retry);
  await post(retry);
  await post({ ...retry, requestState: 'cut' });
  expect(await points()).toMatchObject({
    'mrtr.rounds{mrtr.outcome,complete}': 1,
    'mrtr.retries.repeated{}': 1,
    'mrtr.rejections{mrtr.reason,invalid}': 1,
    'mrtr.ledger.duration{mrtr.operation,lease,mrtr.outcome,answered}': 2,
    'mrtr.ledger.duration{mrtr.operation,settle,mrtr.outcome,answered}': 1,
    'mrtr.calls{mrtr.state,waiting}': 0,
    'mrtr.questions.open{mrtr.age,under_1m}': 0,
  });
});

test('a tool that throws, or returns an error, is counted as an error', async () => {
  const { points } = measureInMemory();
  const { face } = serve({}, (server) => {
    server.registerTool('throws', {}, () => Promise.reject(new Error('No database.')));
    server.registerTool('fails', {}, () => ({ ...textResult('No stock.'), isError: true }));
  });
  for (const name of ['throws', 'fails']) await face.post('tools/call', { name });
  expect(await points()).toMatchObject({
    'mrtr.rounds{mrtr.outcome,error}': 2,
    'mrtr.rounds{mrtr.outcome,complete}': 0,
  });
});

test('a ledger that fails is counted as a wait that failed, and as the reason of a rejection', async () => {
  const { points } = measureInMemory();
  const fails = () => Promise.reject(new Error('host db7 is down'));
  const { post } = serve({ ledger: { lease: fails, settle: fails, release: fails } });
  const { result } = await post({});
  await post({ requestState: result?.requestState, inputResponses: {} });
  expect(await points()).toMatchObject({
    'mrtr.ledger.duration{mrtr.operation,lease,mrtr.outcome,failed}': 1,
    'mrtr.rejections{mrtr.reason,ledger}': 1,
  });
});

test('a call that runs is counted while it runs', async () => {
  const { points } = measureInMemory();
  // Other tests of this process may have left running calls.
  const running = async () => (await points())['mrtr.calls{mrtr.state,running}'] ?? Number.NaN;
  const before = await running();
  const finished = new Deferred();
  const { face } = serve({}, (server) => {
    server.registerTool('slow', {}, async () => {
      await finished.promise;
      return textResult('Done.');
    });
  });
  const slow = face.post('tools/call', { name: 'slow' });
  await expect.poll(running).toBe(before + 1);
  finished.open();
  await slow;
  expect(await running()).toBe(before);
});

test('questions are counted by their age, and no longer than their time to live', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { points } = measureInMemory({ ttlSeconds: 700 });
  publish('mrtr:ask', { call: 'a', target: 'deploy', keys: ['one', 'two'], live: false });
  const seen: string[][] = [];
  for (const seconds of [0, 60, 240, 300, 100]) {
    vi.setSystemTime(Date.now() + seconds * 1000);
    const open = Object.entries(await points()).filter(
      ([name, value]) => name.startsWith('mrtr.questions.open') && value === 2,
    );
    seen.push(open.map(([name]) => name.slice('mrtr.questions.open{mrtr.age,'.length, -1)));
  }
  expect(seen).toEqual([['under_1m'], ['under_5m'], ['under_10m'], ['older'], []]);
});

test('no client makes metrics grow: not by calls that never return, nor by names, reasons or arguments', async () => {
  const { points } = measureInMemory();
  for (let count = 0; count <= MAX_CALLS; count++)
    publish('mrtr:ask', { call: `${count}`, target: 'deploy', keys: ['sure'], live: false });
  const secret = 'markermarker';
  const { face, post } = serve({ keys: ['k'.repeat(32)], singleUse: false, principal: () => secret });
  for (let count = 0; count < 20; count++) await post({ arguments: { [secret]: `${secret}${count}` } });
  await post({ requestState: `v1.${secret}` });
  const series = Object.keys(await points()).length;
  for (let count = 0; count < 20; count++) {
    await face.post('tools/call', { name: `${secret}${count}`, arguments: { secret } });
    await post({ requestState: `v1.${secret}${count}`, inputResponses: { [secret]: { action: 'accept' } } });
    publish('mrtr:rejection', { reason: `${secret}${count}` as 'expired', call: secret, target: secret });
  }
  const after = await points();
  expect(after).toMatchObject({
    'mrtr.calls{mrtr.state,waiting}': MAX_CALLS,
    'mrtr.rejections{mrtr.reason,invalid}': 21,
    'mrtr.rejections{mrtr.reason,other}': 20,
  });
  expect(series).toBeGreaterThan(10);
  // At most one new series for the unknown reason, and one for the outcome of unknown tools.
  expect(Object.keys(after).length).toBeLessThanOrEqual(series + 2);
  const words = [
    ...Object.keys(REJECTION_REASONS),
    ...['other', 'input_required', 'complete', 'error', 'running', 'abandoned', 'waiting'],
    ...['under_1m', 'under_5m', 'under_10m', 'older', 'lease', 'settle', 'release', 'answered', 'failed'],
  ];
  const values = Object.keys(after).flatMap((name) =>
    [...name.matchAll(/(?:\{|,)mrtr\.\w+,([^,}]*)/g)].map(([, value = '']) => value),
  );
  expect(values.length).toBeGreaterThan(10);
  expect(values.filter((value) => !words.includes(value))).toEqual([]);
  expect(JSON.stringify(after)).not.toContain(secret);
});

test('the end of measuring ends every count', async () => {
  const { stop, points } = measureInMemory();
  stop();
  await serve({}, (server) => server.registerTool('roots', {}, () => ask({ roots: listRoots() }))).post({});
  for (const [name, value] of Object.entries(await points()))
    expect([name, value]).toEqual([expect.stringMatching(COUNTERS), 0]);
});

test('a counter is 0 before its first event, for each outcome and reason: an alert on an increase sees the first', async () => {
  const { points } = measureInMemory();
  const zero = Object.entries(await points()).filter(([name]) => COUNTERS.test(name));
  const outcomes = ['input_required', 'complete', 'error'].map((one) => `mrtr.rounds{mrtr.outcome,${one}}`);
  const reasons = [...Object.keys(REJECTION_REASONS), 'other'].map(
    (one) => `mrtr.rejections{mrtr.reason,${one}}`,
  );
  expect(zero).toEqual([...outcomes, ...reasons, 'mrtr.retries.repeated{}'].map((name) => [name, 0]));
});
