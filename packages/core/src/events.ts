/** `@mrtr/core/events`: events of calls, over `node:diagnostics_channel`. */

export {
  type AnswerEvent,
  type ApprovalEvent,
  type AskEvent,
  bindRounds,
  type ChannelName,
  type EffectEvent,
  type HandlerEvent,
  type LedgerEvent,
  observe,
  publish,
  type RejectionEvent,
  type RoundEvent,
  type StateEvent,
} from './diagnostics/diagnostics.ts';
export { type RunningCall, type WatchOptions, watchRunningCalls } from './diagnostics/running-calls.ts';
export { AnswerIgnored, OperatorWarning, type WarningReason } from './support/operator-warning.ts';
export { type Attack, REJECTION_REASONS, type RejectionReason } from './support/rejection-reasons.ts';
