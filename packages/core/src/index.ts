/** `@mrtr/core`: what the author of a handler needs: questions, answers, eras, and sealed request state. */
export { type Accepted, type Answer, isRefusal, isSettled, type Refusal, type Settled } from './answer.ts';
export { askLive } from './ask-live.ts';
export type { LegacyPolicy } from './call.ts';
export { canAsk, canAskLive } from './can-ask.ts';
export {
  type AnswerEvent,
  type AskEvent,
  bindRounds,
  type ChannelName,
  type EffectEvent,
  type HandlerEvent,
  observe,
  type RoundEvent,
  type StateEvent,
} from './diagnostics.ts';
export {
  type Elicitation,
  type ElicitationForm,
  type ElicitationOptions,
  elicitation,
  type FormContent,
} from './elicitation.ts';
export * from './errors.ts';
export type { InputKind } from './input-kind.ts';
export {
  type InteractionStore,
  MemoryInteractions,
  type MemoryInteractionsOptions,
  type NewInteraction,
} from './interaction-store.ts';
export { listRoots, sampling } from './model-and-roots.ts';
export type { AnswerOf, Answers, Question, Questions } from './question.ts';
export { readAnswer } from './read-answer.ts';
export { readState } from './read-state.ts';
export { cancelledResult, errorResult, textResult } from './results.ts';
export { MRTR_REVISION, speaksMrtr } from './revision.ts';
export { protectedServer } from './server.ts';
export { protectRequestState } from './state/boundary.ts';
export {
  type Claim,
  MemoryLedger,
  type MemoryLedgerOptions,
  type Presented,
  type StateLedger,
} from './state/ledger.ts';
export { type RequestStateOptions, type RequestStatePolicy, requestStatePolicy } from './state/policy.ts';
export type { SecondPresentation, SingleUsePolicy } from './state/single-use.ts';
export { urlElicitation } from './url-elicitation.ts';
export {
  type CallToolResult,
  type ClientCapabilities,
  type CompleteResult,
  type CreateMessageRequest,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type ElicitResult,
  type GetPromptResult,
  type InputRequest,
  type InputRequests,
  type InputRequiredResult,
  type InputResponse,
  type InputResponses,
  inputRequired,
  isInputRequiredResult,
  type ListRootsResult,
  type McpServer,
  type MrtrMethod,
  type ReadResourceResult,
  type SdkCallback,
  type ServerContext,
  type StandardSchemaV1,
  type StandardSchemaWithJSON,
} from './wire.ts';
