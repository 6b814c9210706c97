/** `@mrtr/otel`: OpenTelemetry spans and metrics of multi round-trip calls, from the diagnostics channels of `@mrtr/core`. */
export { type MeasureOptions, measureMrtr } from './measure-mrtr.ts';
export { type TraceOptions, traceMrtr } from './trace-mrtr.ts';
