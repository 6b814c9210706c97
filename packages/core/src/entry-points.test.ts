/** The names that each entry point exports at run time. A change here is a change of the public API. */
import { expect, test } from 'vitest';
import * as main from './index.ts';
import * as seal from './seal.ts';
import * as shape from './shape.ts';
import * as errors from './wire/errors.ts';

test('the main entry has the names for authors of handlers, and all errors', () => {
  const names = Object.keys(main).filter((name) => !(name in errors));
  expect(names.sort()).toEqual([
    'MRTR_REVISION',
    'MemoryLedger',
    'ask',
    'askLive',
    'bindRounds',
    'canAsk',
    'canAskLive',
    'cancelledResult',
    'elicitation',
    'errorResult',
    'inputRequired',
    'isInputRequiredResult',
    'isRefusal',
    'isSettled',
    'listRoots',
    'observe',
    'protectRequestState',
    'protectedServer',
    'readAnswer',
    'readState',
    'requestStatePolicy',
    'sampling',
    'speaksMrtr',
    'textResult',
    'urlElicitation',
  ]);
  for (const name of Object.keys(errors)) expect(main).toHaveProperty(name);
});

test('the entry for authors of shapes has nothing of the main one', () => {
  expect(Object.keys(shape).sort()).toEqual([
    'AbandonedQuota',
    'AnswerReads',
    'LONGEST_TIMER_MS',
    'Place',
    'Quota',
    'aBoolean',
    'aFunction',
    'aPolicy',
    'aText',
    'aTimeInSeconds',
    'anObjectWith',
    'anyValue',
    'asDefinedIfGiven',
    'asNotEntered',
    'asRequired',
    'askProblem',
    'callOf',
    'canonicalJson',
    'defaultOf',
    'endCall',
    'endCancelled',
    'findCall',
    'fitting',
    'handlerSettled',
    'hasDefault',
    'idempotencyKey',
    'isDigestOf',
    'isNotEntered',
    'isQuestion',
    'isQuestions',
    'listOf',
    'notAQuestion',
    'oneOf',
    'ownEntry',
    'processWide',
    'publish',
    'questionDigest',
    'readingOf',
    'requireArgument',
    'requireKnownOptions',
    'requireOptions',
    'shapeCallback',
    'tokenLength',
    'tokenPrincipal',
    'warnOnce',
    'webPage',
    'wholeNumber',
    'wholeSeconds',
    'withDefaults',
    'withRoutingLabel',
  ]);
});

test('the entry for stores has the codec, the keys and sealing at rest', () => {
  expect(Object.keys(seal).sort()).toEqual([
    'CLOCK_SKEW_MS',
    'ephemeralRing',
    'keyRing',
    'ledgerFull',
    'openAtRest',
    'openState',
    'pseudonym',
    'sealAtRest',
    'sealState',
    'tokenLength',
  ]);
});
