/** `@mrtr/core/shape`: what the author of a handler shape needs beside `@mrtr/core`. */
export { type AnswerRead, AnswerReads } from './answer-reads.ts';
export { type Call, callOf, findCall, type RoundLimits } from './call.ts';
export { publish } from './diagnostics.ts';
export { idempotencyKey } from './idempotency.ts';
export { type AskProblem, askProblem, type Outgoing } from './limits.ts';
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
} from './options.ts';
export { ownEntry } from './own-entry.ts';
export { processWide, warnOnce } from './process-wide.ts';
export { isDigestOf, isQuestion, isQuestions, questionDigest } from './question.ts';
export { type AbandonedLimits, AbandonedQuota, Place, Quota, type QuotaExceeded } from './quota.ts';
export { defaultOf, hasDefault, readingOf } from './read-answer.ts';
export { fitting } from './read-state.ts';
export { endCall, endCancelled } from './results.ts';
export { shapeCallback, withRoutingLabel } from './shape-callback.ts';
export { canonicalJson } from './state/canonical-json.ts';
export { tokenLength } from './state/codec.ts';
export { asNotEntered, isNotEntered } from './state/handler-run.ts';
export { tokenPrincipal } from './state/policy.ts';
export { aPolicy } from './state/policy-options.ts';
export { handlerSettled } from './state/serving.ts';
export { webPage } from './url-elicitation.ts';
