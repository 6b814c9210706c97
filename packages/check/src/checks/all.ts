/** Every check, in the order of the report. */
import type { Check } from '../judging/check.ts';
import { ABANDON } from './abandon.ts';
import { ANSWER } from './answer.ts';
import { CAPABILITY } from './capability.ts';
import { CONSENT } from './consent/consent.ts';
import { WORDS } from './consent/words.ts';
import { DEPLOY } from './deploy/deploy.ts';
import { EFFECT } from './effect.ts';
import { ERA } from './era/era.ts';
import { FORM } from './form.ts';
import { INSTANCE } from './instance.ts';
import { REFUSAL } from './refusal.ts';
import { RETRY } from './retry.ts';
import { BINDING } from './state/binding.ts';
import { DISCLOSURE } from './state/disclosure.ts';
import { INTEGRITY } from './state/integrity.ts';
import { WIRE } from './wire.ts';

export const CHECKS: readonly Check[] = [
  ...[WIRE, INTEGRITY, BINDING, DISCLOSURE, RETRY, ANSWER, REFUSAL, FORM],
  ...[CONSENT, WORDS, CAPABILITY, INSTANCE, DEPLOY, EFFECT, ERA, ABANDON],
].flat();

/**
 * Sorts checks into the order in which they run. Checks that have to wait run late. `state.oracle` compares the replies to
 * `state.expired`, so it follows. The new version serves its first call after that. The checks of the wire read every
 * message. `abandon.` comes last, because its open calls may exhaust the server.
 */
export const inRunningOrder = (checks: readonly Check[]) => {
  const last = ['state.expired', 'state.oracle', 'deploy.', 'form.impossible', 'wire.', 'abandon.'];
  const late = ({ id }: Check) => last.findIndex((beginning) => id.startsWith(beginning));
  return checks.toSorted((a, b) => late(a) - late(b));
};
