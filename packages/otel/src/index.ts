/** `@mrtr/otel`: OpenTelemetry spans of multi round-trip calls, made from the diagnostics channels of `@mrtr/core`. */
export { type TraceOptions, traceMrtr } from './trace-mrtr.ts';
