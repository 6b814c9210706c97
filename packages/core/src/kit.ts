/** `@mrtr/core/kit`: what the packages of this project share. It changes without notice; do not build on it. */

export { aPolicy, clockOf, isSingleUse, tokenPrincipal, ttlOf } from './admission/policy.ts';
export { type AbandonedLimits, AbandonedQuota, Place, Quota, type QuotaExceeded } from './admission/quota.ts';
export { webPage } from './questions/url-elicitation.ts';
export { ownEntry } from './wire/answer-reads.ts';
export { canonicalJson } from './wire/canonical-json.ts';
export {
  aBoolean,
  aFunction,
  anObjectWith,
  anyValue,
  asDefinedIfGiven,
  asRequired,
  aText,
  aTimeInSeconds,
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
export { processWide, tellOperator, warnOnce } from './wire/process-wide.ts';
