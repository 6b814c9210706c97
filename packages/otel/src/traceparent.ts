/** Reads a client's trace context. */
import { type Context, isSpanContextValid, TraceFlags, trace } from '@opentelemetry/api';

// W3C Trace Context, section 3.2: version 00, and later versions that begin in the same way.
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/**
 * The context around a request: `active` if it has a span, as under an instrumented HTTP server. Otherwise the client's, if
 * its `traceparent` is valid, and `active` if not.
 */
export function contextFrom(active: Context, traceparent: string | undefined): Context {
  if (trace.getSpanContext(active) || traceparent === undefined) return active;
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? [];
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const remote = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(remote) ? trace.setSpanContext(active, remote) : active;
}
