/** `@mrtr/core`: questions, answers, eras and sealed request state, for authors of handlers. */

export type { InputRequiredResult, McpServer, ServerContext } from '@modelcontextprotocol/server';
export { MemoryLedger } from './admission/ledger.ts';
export {
  type RequestStateOptions,
  type RequestStatePolicy,
  requestStatePolicy,
} from './admission/policy.ts';
export { protectedServer, protectRequestState } from './admission/protected-server.ts';
export { ask } from './answers/ask.ts';
export { askLive } from './answers/ask-live.ts';
export { readAnswer } from './answers/read-answer.ts';
export type { Receipt } from './diagnostics/events.ts';
export * from './errors.ts';
export { type Answer, isRefusal } from './questions/answer.ts';
export { type Approval, approval } from './questions/approval.ts';
export { canAsk, canAskLive } from './questions/can-ask.ts';
export {
  type Elicitation,
  type ElicitationForm,
  type ElicitationOptions,
  elicitation,
} from './questions/elicitation.ts';
export { listRoots, sampling } from './questions/model-and-roots.ts';
export type { AnswerOf, Answers, Question, Questions } from './questions/question.ts';
export { urlElicitation } from './questions/url-elicitation.ts';
export { type Words, words } from './questions/words.ts';
export { cancelledResult, errorResult, textResult } from './results.ts';
export { readState } from './state/read-state.ts';
export { idempotencyKey, speaksMrtr } from './wire/call.ts';
export type { InputKind } from './wire/input-kind.ts';
