/**
 * Makes metrics from the diagnostics channels, and from what this process holds when they are read.
 *
 * Every label is one of a few fixed words, so no client can make metrics grow: no principal, argument, call or name of a
 * tool is among them. Spans and log lines have those. docs/observability.md has the alerts.
 */
import { observe, REFUSAL_REASONS } from '@mrtr/core/events';
import { type GaugeName, readGauges, requireOptions, wholeNumber } from '@mrtr/core/kit';
import { type BatchObservableResult, type Meter, metrics } from '@opentelemetry/api';
import { WaitingCalls } from './waiting-calls.ts';

/** The options of {@link measureMrtr}. */
export interface MeasureOptions {
  /** How long a call counts as waiting for its user, in seconds. Default 600, as long as request state lives by default. */
  readonly ttlSeconds?: number;
  /** Waiting calls that are counted at once; above this limit, the oldest is counted no more. Default 10 000. */
  readonly maxTracedCalls?: number;
}

/** The gauges that have no labels, with their units. */
const PLAIN = {
  'frames.parked': '{frame}',
  'pages.pending': '{page}',
  sessions: '{session}',
  streams: '{stream}',
  'streams.unread_bytes': 'By',
} as const satisfies Partial<Record<GaugeName, string>>;

/**
 * Starts counting what every protected server, store and hosting of this process does. The returned function stops it.
 *
 * @param meter by default the global provider's, under the name `@mrtr/otel`.
 * @throws InvalidOption for an option that does not exist, or has a value that it cannot have.
 * @example const stop = measureMrtr(); // after the OpenTelemetry SDK has been set up
 */
export function measureMrtr(
  meter: Meter = metrics.getMeter('@mrtr/otel'),
  options: MeasureOptions = {},
): () => void {
  requireOptions<MeasureOptions>('measureMrtr', options, {
    ttlSeconds: wholeNumber(),
    maxTracedCalls: wholeNumber(),
  });
  const { ttlSeconds = 600, maxTracedCalls = 10_000 } = options;
  const waiting = new WaitingCalls(ttlSeconds * 1000, maxTracedCalls);
  const ends = [...countEvents(meter), ...watchQuestions(waiting), readWhenAsked(meter, waiting)];
  return () => {
    for (const end of ends) end();
  };
}

function countEvents(meter: Meter): (() => void)[] {
  const rounds = meter.createCounter('mrtr.rounds', { unit: '{round}' });
  const refusals = meter.createCounter('mrtr.refusals', { unit: '{request}' });
  const repeated = meter.createCounter('mrtr.retries.repeated', { unit: '{request}' });
  const ledger = meter.createHistogram('mrtr.ledger.duration', { unit: 's' });
  return [
    observe('mrtr:round', ({ phase, outcome = 'error' }) => {
      if (phase === 'end') rounds.add(1, { 'mrtr.outcome': outcome });
    }),
    // Another version of the packages may be loaded too, with reasons of its own.
    observe('mrtr:refusal', ({ reason }) =>
      refusals.add(1, { 'mrtr.reason': Object.hasOwn(REFUSAL_REASONS, reason) ? reason : 'other' }),
    ),
    observe('mrtr:state', ({ phase }) => {
      if (phase === 'replayed') repeated.add(1);
    }),
    observe('mrtr:ledger', ({ operation, outcome, seconds }) =>
      ledger.record(seconds, { 'mrtr.operation': operation, 'mrtr.outcome': outcome }),
    ),
  ];
}

function watchQuestions(waiting: WaitingCalls): (() => void)[] {
  return [
    observe('mrtr:ask', ({ call, keys }) => waiting.noteQuestions(call, keys.length)),
    observe('mrtr:round', ({ phase, call, outcome }) => {
      if (phase === 'start' || outcome !== 'input_required') waiting.forget(call);
    }),
  ];
}

/** Reads what is held now, whenever the metrics are collected. */
function readWhenAsked(meter: Meter, waiting: WaitingCalls): () => void {
  const calls = meter.createObservableGauge('mrtr.calls', { unit: '{call}' });
  const questions = meter.createObservableGauge('mrtr.questions.open', { unit: '{question}' });
  const plain = Object.entries(PLAIN).map(
    ([name, unit]) =>
      [name as keyof typeof PLAIN, meter.createObservableGauge(`mrtr.${name}`, { unit })] as const,
  );
  const read = (result: BatchObservableResult) => {
    const held = readGauges();
    result.observe(calls, held['calls.running'], { 'mrtr.state': 'running' });
    result.observe(calls, held['calls.abandoned'], { 'mrtr.state': 'abandoned' });
    result.observe(calls, waiting.size, { 'mrtr.state': 'waiting' });
    for (const [age, open] of Object.entries(waiting.questions()))
      result.observe(questions, open, { 'mrtr.age': age });
    for (const [name, one] of plain) result.observe(one, held[name]);
  };
  const all = [calls, questions, ...plain.map(([, one]) => one)];
  meter.addBatchObservableCallback(read, all);
  return () => meter.removeBatchObservableCallback(read, all);
}
