/**
 * Makes spans from the diagnostics channels: one for each logical call, with a child for each round.
 *
 * Within a round, events find their span by AsyncLocalStorage. Between rounds they find it by the call's id, which every
 * token carries already. docs/observability.md states the limits.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { bindRounds, type Events, observe } from '@mrtr/core/events';
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
import { type OpenCalls, openCalls, type TracedCall } from './open-calls.ts';
import type { ObserverOptions } from './recent-calls.ts';
import { contextFrom } from './traceparent.ts';

/** The round that is being served in this asynchronous context. */
interface TracedRound {
  readonly call: TracedCall;
  readonly span: Span;
}

/**
 * Starts tracing every protected server of this process. The returned function stops it and ends all open spans.
 *
 * @param tracer by default the global provider's, under the name `@mrtr/otel`.
 * @throws InvalidOption for an unknown or invalid option.
 * @example const stop = traceMrtr(); // after the OpenTelemetry SDK has been set up
 */
export function traceMrtr(
  tracer: Tracer = trace.getTracer('@mrtr/otel'),
  options: ObserverOptions = {},
): () => void {
  const calls = openCalls(options);
  const rounds = new AsyncLocalStorage<TracedRound>();
  const note = (name: string, attributes: Attributes) => rounds.getStore()?.span.addEvent(name, attributes);
  const ends = [
    bindRounds(rounds, (start) => startRound(tracer, calls, start)),
    observe('mrtr:round', (event) => {
      const round = rounds.getStore();
      if (event.phase === 'end' && round) endRound(calls, round, event);
    }),
    observe('mrtr:handler', ({ shape = 'plain', part, name }) =>
      note('mrtr.handler', {
        'mrtr.shape': shape,
        'mrtr.part': part,
        ...(name !== undefined && { 'mrtr.name': name }),
      }),
    ),
    observe('mrtr:ask', ({ keys, live }) => note('mrtr.ask', { 'mrtr.keys': [...keys], 'mrtr.live': live })),
    observe('mrtr:answer', ({ key, reason, times }) =>
      note('mrtr.answer', { 'mrtr.key': key, 'mrtr.reason': reason, 'mrtr.times': times }),
    ),
    // Omit the words of the receipt: they contain values of the call.
    observe('mrtr:approval', ({ outcome, receipt }) =>
      note('mrtr.approval', {
        'mrtr.outcome': outcome,
        ...(receipt && { 'mrtr.receipt': receipt.id, 'mrtr.assurance': receipt.assurance }),
      }),
    ),
    observe('mrtr:effect', ({ key, phase }) => note('mrtr.effect', { 'mrtr.key': key, 'mrtr.phase': phase })),
    observe('mrtr:state', ({ phase, bytes }) =>
      note('mrtr.state', { 'mrtr.phase': phase, 'mrtr.bytes': bytes }),
    ),
    // The boundary rejects state before the round starts, so the event has no span yet.
    observe('mrtr:rejection', (event) => {
      if (event.bytes !== undefined) recordRejection(tracer, event);
    }),
  ];
  return () => {
    for (const end of ends) end();
    calls.close();
  };
}

function startRound(tracer: Tracer, calls: OpenCalls, start: Events['mrtr:round']): TracedRound {
  const { round, call: id } = start;
  const known = calls.find(id);
  const around = contextFrom(context.active(), start.traceparent);
  const call = known && !known.ended ? known : startCall(tracer, start, around, known);
  // Each request of a call may have its own trace. A span has one parent, so the later requests become links.
  const span = tracer.startSpan(
    `round ${round}`,
    {
      kind: SpanKind.SERVER,
      attributes: { ...attributesOf(start), 'mrtr.round': round },
      links: call === known ? linksTo(around) : [],
    },
    trace.setSpan(ROOT_CONTEXT, call.span),
  );
  calls.roundStarted(call, span);
  return { call, span };
}

function startCall(
  tracer: Tracer,
  start: Events['mrtr:round'],
  around: Context,
  over: TracedCall | undefined,
): TracedCall {
  // A round of an ended call, whose state came twice, gets its own span, linked to the first.
  const links = over ? [{ context: over.span.spanContext() }] : [];
  const options = { attributes: { ...attributesOf(start), 'mrtr.first_round': start.round }, links };
  return { span: tracer.startSpan(nameOf(start), options, around), rounds: 0, running: 0, ended: false };
}

function endRound(calls: OpenCalls, { call, span }: TracedRound, event: Events['mrtr:round']) {
  const { outcome = 'error' } = event;
  span.setAttribute('mrtr.outcome', outcome);
  if (outcome === 'error') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
  calls.roundEnded(event.call, call, span, outcome);
}

/** A request whose state does not open never becomes a round, and does not reliably name a call. */
function recordRejection(
  tracer: Tracer,
  { reason, detail = '', bytes = 0, ...event }: Events['mrtr:rejection'],
) {
  const { call, method = '', target = '' } = event;
  const about = { call, method, target };
  const attributes = { ...attributesOf(about), 'mrtr.outcome': 'rejected' };
  const span = tracer.startSpan(nameOf(about), { kind: SpanKind.SERVER, attributes });
  span.addEvent('mrtr.rejection', { 'mrtr.reason': reason, 'mrtr.detail': detail, 'mrtr.bytes': bytes });
  span.setStatus({ code: SpanStatusCode.ERROR, message: `requestState rejected: ${reason}` });
  span.end();
}

type Called = Pick<Events['mrtr:round'], 'method' | 'target'> & { readonly call?: string | undefined };

// A client may call an unknown tool by a name of any length.
const clip = (target: string) => target.slice(0, 100);

/** The name of a span. MCP's semantic conventions require it to omit a resource's URI: there are too many. */
const nameOf = ({ method, target }: Called) =>
  method === 'resources/read' ? method : `${method} ${clip(target)}`;

const TARGET_ATTRIBUTES: Readonly<Record<string, string>> = {
  'tools/call': 'gen_ai.tool.name',
  'prompts/get': 'gen_ai.prompt.name',
  'resources/read': 'mcp.resource.uri',
};

const attributesOf = ({ call, method, target }: Called): Attributes => ({
  'mcp.method.name': method,
  ...(call !== undefined && { 'mrtr.call': call }),
  [TARGET_ATTRIBUTES[method] ?? 'mrtr.target']: clip(target),
});

function linksTo(around: Context): Link[] {
  const found = trace.getSpanContext(around);
  return found ? [{ context: found }] : [];
}
