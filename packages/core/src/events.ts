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
  type RefusalEvent,
  type RoundEvent,
  type StateEvent,
} from './diagnostics/diagnostics.ts';
export { type RunningCall, type WatchOptions, watchRunningCalls } from './diagnostics/running-calls.ts';
export { AnswerIgnored, OperatorWarning, type WarningReason } from './support/operator-warning.ts';
export { type Attack, REFUSAL_REASONS, type RefusalReason } from './support/refusal-reasons.ts';
