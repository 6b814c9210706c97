/** `@mrtr/core/events`: events of calls, over `node:diagnostics_channel`. */

export { bindRounds, type Events, observe } from './diagnostics/events.ts';
export { AnswerIgnored, OperatorWarning } from './diagnostics/operator-warning.ts';
export { REJECTION_REASONS, type Rejection, type RejectionReason } from './diagnostics/rejection-reasons.ts';
export { watchRunningCalls } from './diagnostics/running-calls.ts';
