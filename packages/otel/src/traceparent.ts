/** Where a client's trace stands. */
import { type Context, isSpanContextValid, TraceFlags, trace } from '@opentelemetry/api';

// W3C Trace Context, section 3.2: version 00, and later ones as far as they begin the same.
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/**
 * The context around a request: this process's own where a span is active, as under an instrumented HTTP server;
 * else the client's, where it sent a `traceparent` that can be read; else `active` as it is.
 */
export function contextFrom(active: Context, traceparent: string | undefined): Context {
  if (trace.getSpanContext(active) || traceparent === undefined) return active;
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? [];
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const remote = { traceId, spanId, traceFlags, isRemote: true };
  return isSpanContextValid(remote) ? trace.setSpanContext(active, remote) : active;
}
