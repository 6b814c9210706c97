/** The spans of real calls of each option. */

import { RESOLVE_WORK_ITEM } from '@mrtr/comparison';
import { callSubject, findScript } from '@mrtr/comparison/calls';
import { traceMrtr } from '@mrtr/otel';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect, onTestFinished, test } from 'vitest';
import { IN_MEMORY, sealsState } from '../testkit/options.ts';

/** The spans of one call of `resolve_work_item` that ends with a duplicate, and so has three rounds. */
async function spansOf(
  id: string,
  client: 'modern' | 'legacy' = 'modern',
  hosting: 'memory' | 'fleet' = 'memory',
) {
  const [subject] = IN_MEMORY.filter((option) => option.id === id);
  const script = findScript('duplicate', RESOLVE_WORK_ITEM);
  if (!subject) throw new Error(`There is no option ${id}.`);
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const stop = traceMrtr(provider.getTracer('test'));
  onTestFinished(stop);
  const { call } = script;
  await callSubject({ subject, client, hosting, legacy: 'shim', call, user: script.user() });
  const spans = exporter.getFinishedSpans();
  const calls = spans.filter(({ parentSpanContext }) => parentSpanContext === undefined);
  return calls.map((call) => {
    const { spanId } = call.spanContext();
    const rounds = spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId);
    return [call.attributes['mrtr.outcome'], ...rounds.map(({ name }) => name)].join(', ');
  });
}

const WHOLE = ['complete, round 1, round 2, round 3'];

const IDS = IN_MEMORY.filter(sealsState).map(({ id }) => id);

test.each(IDS)('option %s is one call with three rounds', async (id) => {
  expect(await spansOf(id)).toEqual(WHOLE);
});

test('is one call if other instances of this process serve its rounds', async () => {
  expect(await spansOf('f', 'modern', 'fleet')).toEqual(WHOLE);
});

test('is one call if the SDK’s shim makes the rounds for an old client', async () => {
  expect(await spansOf('f', 'legacy')).toEqual(WHOLE);
});

test('a server without the boundary publishes nothing, so it has no spans', async () => {
  expect(await spansOf('e-bare')).toEqual([]);
});
