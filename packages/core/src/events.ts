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
} from './diagnostics/events.ts';
export * from './diagnostics/operator-warning.ts';
export * from './diagnostics/rejection-reasons.ts';
export * from './diagnostics/running-calls.ts';
