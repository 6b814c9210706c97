/**
 * Turns the diagnostics channels into spans: one for each logical call, with a child for each round.
 *
 * Within a round, events find their span by AsyncLocalStorage. From one round to the next, the id of the state that
 * was sealed in the one and opened in the other leads to the call; so not a byte more goes over the wire. What
 * that cannot do is written in docs/observability.md.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { bindRounds, observe, type RoundEvent, type StateEvent } from '@mrtr/core';
import {
  type Attributes,
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OpenCalls, type TracedCall } from './open-calls.ts';
import { contextFrom } from './traceparent.ts';

/** What {@link traceMrtr} takes beside a tracer. */
export interface TraceOptions {
  /** How long a call may wait for its next round before its span ends as abandoned, in seconds. Default 600, as
   * long as request state lives unless its policy says otherwise. */
  readonly ttlSeconds?: number;
  /** States remembered at once, one for each round; beyond it, the call that has waited longest is given up.
   * Default 10 000. */
  readonly maxStates?: number;
}

/** The round that is being served in this asynchronous context. */
interface TracedRound {
  readonly call: TracedCall;
  readonly span: Span;
  /** Id of the state that the round answered with. */
  sealed: string | undefined;
}

/**
 * Starts tracing every protected server of this process. The returned function ends it, and ends what is open.
 *
 * @param tracer by default the global provider's, under the name `@mrtr/otel`.
 * @example const stop = traceMrtr(); // after the OpenTelemetry SDK has been set up
 */
export function traceMrtr(
  tracer: Tracer = trace.getTracer('@mrtr/otel'),
  { ttlSeconds = 600, maxStates = 10_000 }: TraceOptions = {},
): () => void {
  const rounds = new AsyncLocalStorage<TracedRound>();
  const calls = new OpenCalls(ttlSeconds * 1000, maxStates);
  const note = (name: string, attributes: Attributes) => rounds.getStore()?.span.addEvent(name, attributes);
  const ends = [
    bindRounds(rounds, (start) => startRound(tracer, calls, start)),
    observe('mrtr:round', (event) => {
      const round = rounds.getStore();
      if (event.phase === 'end' && round) endRound(calls, round, event);
    }),
    observe('mrtr:handler', ({ shape }) => note('mrtr.handler', { 'mrtr.shape': shape })),
    observe('mrtr:ask', ({ keys, live }) => note('mrtr.ask', { 'mrtr.keys': [...keys], 'mrtr.live': live })),
    observe('mrtr:effect', ({ key, phase }) => note('mrtr.effect', { 'mrtr.key': key, 'mrtr.phase': phase })),
    observe('mrtr:state', (event) => {
      const round = rounds.getStore();
      // It is told before its round starts; the start says what the round continues, and is noted there.
      if (event.phase === 'rejected') tellRejection(tracer, event);
      else if (event.phase === 'sealed' && round) noteSealed(round, event);
    }),
  ];
  return () => {
    for (const end of ends) end();
    calls.close();
  };
}

function startRound(tracer: Tracer, calls: OpenCalls, start: RoundEvent): TracedRound {
  const { round, continues } = start;
  const known = continues === undefined ? undefined : calls.find(continues);
  const around = contextFrom(context.active(), start.traceparent);
  const call = known && !known.ended ? known : startCall(tracer, start, around, known);
  // Each request of a call may come in a trace of its own: a later one is linked, since a span has but one parent.
  const span = tracer.startSpan(
    `round ${round}`,
    {
      kind: SpanKind.SERVER,
      attributes: { ...attributesOf(start), 'mrtr.round': round },
      links: call === known ? linksTo(around) : [],
    },
    trace.setSpan(ROOT_CONTEXT, call.span),
  );
  if (continues !== undefined) {
    span.setAttribute('mrtr.state.opened', continues);
    span.addEvent('mrtr.state', { 'mrtr.phase': 'opened' });
  }
  calls.roundStarted(call, span);
  return { call, span, sealed: undefined };
}

function startCall(
  tracer: Tracer,
  start: RoundEvent,
  around: Context,
  over: TracedCall | undefined,
): TracedCall {
  // A round of a call that is over (its state was presented twice) is another call, and says which one it repeats.
  const links = over ? [{ context: over.span.spanContext() }] : [];
  const options = { attributes: { ...attributesOf(start), 'mrtr.first_round': start.round }, links };
  return { span: tracer.startSpan(nameOf(start), options, around), rounds: 0, running: 0, ended: false };
}

function endRound(calls: OpenCalls, { call, span, sealed }: TracedRound, event: RoundEvent): void {
  const { outcome = 'error', shape } = event;
  span.setAttributes({ 'mrtr.outcome': outcome, ...(shape !== undefined && { 'mrtr.shape': shape }) });
  if (outcome === 'error') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
  calls.roundEnded(call, span, outcome, sealed);
}

function noteSealed(round: TracedRound, { id, bytes }: StateEvent): void {
  round.sealed = id;
  if (id !== undefined) round.span.setAttribute('mrtr.state.sealed', id);
  round.span.addEvent('mrtr.state', { 'mrtr.phase': 'sealed', 'mrtr.bytes': bytes });
}

/** A request with state that does not open never becomes a round, and nothing in it can be trusted to name a call. */
function tellRejection(tracer: Tracer, event: StateEvent): void {
  const { bytes, reason = '' } = event;
  const attributes = { ...attributesOf(event), 'mrtr.outcome': 'rejected' };
  const span = tracer.startSpan(nameOf(event), { kind: SpanKind.SERVER, attributes });
  span.addEvent('mrtr.state', { 'mrtr.phase': 'rejected', 'mrtr.bytes': bytes, 'mrtr.reason': reason });
  span.setStatus({ code: SpanStatusCode.ERROR, message: `requestState rejected: ${reason}` });
  span.end();
}

type Called = Pick<RoundEvent, 'method' | 'target'>;

// A client may call what does not exist, by a name as long as it likes.
const clipped = (target: string): string => target.slice(0, 100);

/** Resources are not in the name, as the semantic conventions of MCP have it: there are too many of them. */
const nameOf = ({ method, target }: Called): string =>
  method === 'resources/read' ? method : `${method} ${clipped(target)}`;

const TARGET_ATTRIBUTES: Readonly<Record<string, string>> = {
  'tools/call': 'gen_ai.tool.name',
  'prompts/get': 'gen_ai.prompt.name',
  'resources/read': 'mcp.resource.uri',
};

const attributesOf = ({ method, target }: Called): Attributes => ({
  'mcp.method.name': method,
  [TARGET_ATTRIBUTES[method] ?? 'mrtr.target']: clipped(target),
});

function linksTo(around: Context): Link[] {
  const found = trace.getSpanContext(around);
  return found ? [{ context: found }] : [];
}
