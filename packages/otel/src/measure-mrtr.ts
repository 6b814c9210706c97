/**
 * Makes metrics from the diagnostics channels, and gauges from the state of this process.
 *
 * Every label is one of a few fixed words, so no client can make the metrics grow. Principals, arguments, calls and tools'
 * names are in spans and log lines instead. docs/operating.md has the alerts.
 */
import { observe, REJECTION_REASONS } from '@mrtr/core/events';
import { type GaugeName, readGauges } from '@mrtr/core/internal';
import { type BatchObservableResult, type Meter, metrics } from '@opentelemetry/api';
import { type ObserverOptions, recentCalls } from './recent-calls.ts';

/**
 * The number of open questions of each call of this process that waits for its user. If another instance serves the next
 * round, a call stays until it expires.
 */
type WaitingCalls = ReturnType<typeof recentCalls<number>>;

/** The ages of open questions, each with its upper bound in seconds. */
const AGES = { under_1m: 60, under_5m: 300, under_10m: 600, older: Number.POSITIVE_INFINITY } as const;

const OUTCOMES = ['input_required', 'complete', 'error'] as const;

/** The gauges without labels, with their units. */
const PLAIN = {
  'frames.parked': '{frame}',
  'pages.pending': '{page}',
  sessions: '{session}',
  streams: '{stream}',
  'streams.unread_bytes': 'By',
} as const satisfies Partial<Record<GaugeName, string>>;

/**
 * Starts to measure every protected server, store and hosting of this process. The returned function stops it.
 *
 * @param meter by default the global provider's, under the name `@mrtr/otel`.
 * @throws InvalidOption for an unknown or invalid option.
 * @example const stop = measureMrtr(); // after the OpenTelemetry SDK has been set up
 */
export function measureMrtr(
  meter: Meter = metrics.getMeter('@mrtr/otel'),
  options: ObserverOptions = {},
): () => void {
  const waiting = recentCalls<number>('measureMrtr', options);
  const ends = [...countEvents(meter), ...watchQuestions(waiting), readWhenAsked(meter, waiting)];
  return () => {
    for (const end of ends) end();
  };
}

function countEvents(meter: Meter) {
  const rounds = meter.createCounter('mrtr.rounds', { unit: '{round}' });
  const rejections = meter.createCounter('mrtr.rejections', { unit: '{request}' });
  const repeated = meter.createCounter('mrtr.retries.repeated', { unit: '{request}' });
  const ledger = meter.createHistogram('mrtr.ledger.duration', { unit: 's' });
  // An alert on an increase sees the first event only if the counter was 0 before.
  for (const outcome of OUTCOMES) rounds.add(0, { 'mrtr.outcome': outcome });
  for (const reason of [...Object.keys(REJECTION_REASONS), 'other'])
    rejections.add(0, { 'mrtr.reason': reason });
  repeated.add(0);
  return [
    observe('mrtr:round', ({ phase, outcome = 'error' }) => {
      if (phase === 'end') rounds.add(1, { 'mrtr.outcome': outcome });
    }),
    // Another loaded version of the packages may have other reasons.
    observe('mrtr:rejection', ({ reason }) =>
      rejections.add(1, { 'mrtr.reason': Object.hasOwn(REJECTION_REASONS, reason) ? reason : 'other' }),
    ),
    observe('mrtr:state', ({ phase }) => {
      if (phase === 'replayed') repeated.add(1);
    }),
    observe('mrtr:ledger', ({ operation, outcome, seconds }) =>
      ledger.record(seconds, { 'mrtr.operation': operation, 'mrtr.outcome': outcome }),
    ),
  ];
}

function watchQuestions(waiting: WaitingCalls) {
  return [
    observe('mrtr:ask', ({ call, keys }) => waiting.remember(call, keys.length)),
    observe('mrtr:round', ({ phase, call, outcome }) => {
      if (phase === 'start' || outcome !== 'input_required') waiting.forget(call);
    }),
  ];
}

/** Reads the gauges whenever the metrics are collected. */
function readWhenAsked(meter: Meter, waiting: WaitingCalls) {
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
    waiting.forgetExpired();
    result.observe(calls, waiting.size(), { 'mrtr.state': 'waiting' });
    for (const [age, open] of Object.entries(countByAge(waiting)))
      result.observe(questions, open, { 'mrtr.age': age });
    for (const [name, one] of plain) result.observe(one, held[name]);
  };
  const all = [calls, questions, ...plain.map(([, one]) => one)];
  meter.addBatchObservableCallback(read, all);
  return () => meter.removeBatchObservableCallback(read, all);
}

/** Counts the open questions by age. */
function countByAge(waiting: WaitingCalls) {
  const counts = { under_1m: 0, under_5m: 0, under_10m: 0, older: 0 };
  const now = Date.now();
  for (const { value, since } of waiting.values()) {
    const [age] = Object.entries(AGES).find(([, below]) => now - since < below * 1000) ?? ['older'];
    counts[age as keyof typeof AGES] += value;
  }
  return counts;
}
