/** The checks of the options of `requestStatePolicy`. */

import { MAX_QUESTIONS, MAX_ROUND, MAX_TTL_SECONDS } from '../state/codec.ts';
import {
  aFunction,
  anObjectWith,
  anyValue,
  asDefinedIfGiven,
  aText,
  listOf,
  type OptionCheck,
  oneOf,
  wholeNumber,
} from '../wire/options.ts';

const isText = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const aLimit = wholeNumber(1, Number.MAX_SAFE_INTEGER);

const aVersion: OptionCheck = {
  allowed: 'a text, or one text for each target',
  isAllowed: (value) => isText(value) || isObject(value),
};

const unaskedAnswers: OptionCheck = {
  allowed: "'drop', 'accept' or { accept: [names of targets] }",
  isAllowed: (value) => value === 'drop' || value === 'accept' || isAcceptList(value),
  quotesText: true,
};

function isAcceptList(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).join() !== 'accept') return false;
  const { accept } = value as { readonly accept: unknown };
  return Array.isArray(accept) && accept.every(isText);
}

/** A check for each of the `RequestStateOptions`. */
export const POLICY_CHECKS = {
  // keyRing() checks each secret, and says what to do.
  keys: anyValue,
  ttlSeconds: wholeNumber(1, MAX_TTL_SECONDS),
  maxBytes: aLimit,
  maxRounds: wholeNumber(1, MAX_ROUND),
  maxQuestions: wholeNumber(1, MAX_QUESTIONS),
  maxAnswerBytes: aLimit,
  audience: aText,
  principal: aFunction,
  legacy: oneOf('shim', 'degrade'),
  now: aFunction,
  singleUse: oneOf('reject', 'replay', false),
  ledger: anObjectWith('claim', 'settle', 'release'),
  leaseSeconds: wholeNumber(1, MAX_TTL_SECONDS),
  claimSeconds: wholeNumber(1, 3600),
  maxResultBytes: aLimit,
  maxCalls: aLimit,
  maxCallsPerPrincipal: aLimit,
  maxAbandoned: aLimit,
  maxAbandonedPerPrincipal: aLimit,
  onerror: aFunction,
  unaskedAnswers,
  // stateVersions() checks each text.
  version: asDefinedIfGiven(aVersion),
  acceptVersions: listOf(
    'versions (null for state without one)',
    // stateVersions() names the place of an undefined one.
    (value) => value === null || value === undefined || isText(value),
  ),
} satisfies Record<string, OptionCheck>;
