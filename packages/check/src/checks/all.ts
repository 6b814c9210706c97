/** Every check, in the order of the report. */

import type { Check } from '../judging/check.ts';
import { flat } from './abandon.ts';
import * as answer from './answer.ts';
import { missing, partial } from './answer-missing.ts';
import { mode, undeclaredCapability } from './capability.ts';
import * as deploy from './deploy.ts';
import { reworded, unfit } from './deploy-questions.ts';
import * as effect from './effect.ts';
import * as era from './era.ts';
import * as instance from './instance.ts';
import * as refusal from './refusal.ts';
import * as retry from './retry.ts';
import * as binding from './state-binding.ts';
import * as disclosure from './state-disclosure.ts';
import * as integrity from './state-integrity.ts';
import * as wire from './wire.ts';

/** Every check, by family of ids. */
export const CHECKS: readonly Check[] = [
  wire.resultType,
  wire.shape,
  wire.schema,
  wire.keys,
  wire.noServerRequests,
  wire.unknownMembers,
  integrity.forged,
  integrity.tampered,
  integrity.malformedState,
  integrity.aliased,
  binding.otherArguments,
  binding.otherTool,
  binding.otherMethod,
  binding.otherPrincipal,
  binding.rolledBack,
  integrity.dropped,
  binding.expired,
  disclosure.oracle,
  disclosure.readable,
  disclosure.size,
  retry.twice,
  retry.concurrent,
  retry.lostResponse,
  answer.unasked,
  answer.otherKey,
  answer.otherRound,
  answer.invalid,
  answer.emptyAccept,
  answer.refusalWithContent,
  missing,
  partial,
  refusal.noEffect,
  refusal.declineEnds,
  refusal.cancelEnds,
  refusal.roundsBounded,
  mode,
  undeclaredCapability,
  instance.second,
  instance.restart,
  instance.replayElsewhere,
  deploy.survives,
  deploy.returns,
  deploy.inWordsOnly,
  deploy.effectOnce,
  deploy.replay,
  reworded,
  unfit,
  effect.beforeAnswer,
  effect.once,
  effect.perRound,
  era.same,
  era.stateless,
  flat,
];

/**
 * The same in the order in which they run. What waits is not before what does not, and `state.oracle` compares what that was
 * told. The new version serves no call before the others are through. Those of the wire read every message, so they come
 * after it. A server that was left with many open calls may take no more, so that check is the last.
 */
export const inRunningOrder = (checks: readonly Check[]): readonly Check[] => {
  const last = ['state.expired', 'state.oracle', 'deploy.', 'wire.', 'abandon.'];
  const late = ({ id }: Check) => last.findIndex((beginning) => id.startsWith(beginning));
  return checks.toSorted((a, b) => late(a) - late(b));
};
