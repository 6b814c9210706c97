/** `@mrtr/core/internal`: what the packages of this project share. It is published without types, and documented nowhere. */

export { ledgerFull } from './admission/ledger.ts';
export { aPolicy, partsOf, tokenPrincipal, withFixedLimits } from './admission/policy.ts';
export * from './admission/quota.ts';
export { awaitHandler, onAbandoned } from './admission/request-handler.ts';
export { notesOf } from './admission/shape-notes.ts';
export { waitAtMost } from './admission/wait-at-most.ts';
export { notAQuestionError, requireKeys } from './answers/ask.ts';
export { hasFallback, readingOf, readResponse } from './answers/read-answer.ts';
export type { Assurance } from './diagnostics/events.ts';
export { publish } from './diagnostics/events.ts';
export * from './diagnostics/gauges.ts';
export { asError, onOneLine, withCallInMessage } from './diagnostics/log-line.ts';
export * from './diagnostics/operator.ts';
export * from './options.ts';
export * from './process-wide.ts';
export {
  approvalLabel,
  approvedAnswer,
  refusedAnswer,
  requireStamp,
  requireTwoLabels,
  someWords,
} from './questions/approval.ts';
export { isQuestion, isQuestions } from './questions/question.ts';
export { parseWebPage } from './questions/url-elicitation.ts';
export { escapeHidden } from './questions/words.ts';
export { deriveName } from './state/at-rest.ts';
export type { Binding } from './state/binding.ts';
export { openState, sealState, type TokenContent } from './state/codec.ts';
export { AnswerReads } from './wire/answer-reads.ts';
export { stampAnswer, stampOf } from './wire/answer-stamp.ts';
export { findCall, MRTR_REVISION } from './wire/call.ts';
export { canonicalJson } from './wire/canonical-json.ts';
export { INPUT_KINDS } from './wire/input-kind.ts';
export { sharedGetter } from './wire/shared-getter.ts';
export { isObject, mapValues, ownEntry } from './wire/wire.ts';
