/** `@mrtr/core/shape`: what the author of a handler shape needs beside `@mrtr/core`. */

export { asNotEntered, isNotEntered } from './admission/handler-run.ts';
export { type AskProblem, askProblem, type Outgoing } from './admission/limits.ts';
export { tokenPrincipal } from './admission/policy.ts';
export { aPolicy } from './admission/policy-options.ts';
export { type AbandonedLimits, AbandonedQuota, Place, Quota, type QuotaExceeded } from './admission/quota.ts';
export { handlerSettled } from './admission/serving.ts';
export { shapeCallback, withRoutingLabel } from './admission/shape-callback.ts';
export { notAQuestion } from './answers/ask.ts';
export { defaultOf, hasDefault, readingOf } from './answers/read-answer.ts';
export { isDigestOf, isQuestion, isQuestions, questionDigest } from './questions/question.ts';
export { webPage } from './questions/url-elicitation.ts';
export { tokenLength } from './state/codec.ts';
export { fitting } from './state/read-state.ts';
export { type AnswerRead, AnswerReads } from './wire/answer-reads.ts';
export { type Call, callOf, findCall, type RoundLimits } from './wire/call.ts';
export { canonicalJson } from './wire/canonical-json.ts';
export { publish } from './wire/diagnostics.ts';
export { idempotencyKey } from './wire/idempotency.ts';
export {
  aBoolean,
  aFunction,
  anObjectWith,
  anyValue,
  asDefinedIfGiven,
  asRequired,
  aText,
  aTimeInSeconds,
  LONGEST_TIMER_MS,
  listOf,
  type OptionCheck,
  type OptionChecks,
  oneOf,
  requireArgument,
  requireKnownOptions,
  requireOptions,
  wholeNumber,
  wholeSeconds,
  withDefaults,
} from './wire/options.ts';
export { ownEntry } from './wire/own-entry.ts';
export { processWide, warnOnce } from './wire/process-wide.ts';
export { endCall, endCancelled } from './wire/results.ts';
