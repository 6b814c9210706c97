/** `@mrtr/otel`: OpenTelemetry spans and metrics of multi round-trip calls, from the diagnostics channels of `@mrtr/core`. */
export { measureMrtr } from './measure-mrtr.ts';
export { traceMrtr } from './trace-mrtr.ts';
