/** One way in which a fault comes, and what the twists of the right server are made of. */
import type { RunInputs, Verdict } from '@mrtr/check';
import { describe, expect, it } from 'vitest';
import { type Answer, checkTwisted, type Sent, says, type Twist } from '../scripted.test-support.ts';

/** One way: what the server does, the verdict, and the words that say what was seen. */
export type Way = readonly [
  way: string,
  verdict: Verdict,
  words: RegExp,
  twist: Twist,
  inputs?: Partial<RunInputs>,
];

export const ways = (id: string, all: readonly Way[]) =>
  describe(id, () => {
    for (const [way, verdict, words, twist, inputs] of all) {
      // They wait more than they work. With a short time for an answer, a busy neighbour would look like silence.
      const test = inputs?.timeoutSeconds === undefined ? it.concurrent : it;
      test(`${way}: ${verdict}`, async () => {
        const { checked } = await checkTwisted(twist, [id], inputs);
        expect(checked[0]?.finding.actual).toMatch(words);
        expect(checked[0]?.verdict).toBe(verdict);
      });
    }
  });

export const isCall = ({ method, params }: Sent): boolean =>
  method === 'tools/call' && params.name === 'send';
export const isRetry = (sent: Sent): boolean => isCall(sent) && sent.params.requestState !== undefined;
export const mute = (sent: Sent): boolean =>
  isCall(sent) && Object.keys(sent.params.capabilities).length === 0;
export const actions = ({ params }: Sent): string =>
  Object.entries(params.inputResponses ?? {})
    .map(([key, answer]) => `${key} ${answer?.action}`)
    .join();
export const when =
  (picked: (sent: Sent) => boolean, otherwise: Twist): Twist =>
  (sent, honest, world) =>
    picked(sent) ? otherwise(sent, honest, world) : honest();
/** The effect, and then the honest answer. */
export const writesToo: Twist = (_sent, honest, world) => {
  world.effects++;
  return honest();
};
export const asked = (inputRequests: object): Answer => ({
  result: { resultType: 'input_required', inputRequests, requestState: 's' },
});

export const NEEDED = { requiredCapabilities: { elicitation: {} } };
export const ROOTS = { method: 'roots/list' };
export const DIFFERENT = says('It was all sent to mallory.');
export const FRESH = { call: {}, stage: 0, answers: {}, about: '["send",{"to":"bob"},"alice"]', tries: 0 };
export const SHORT = { timeoutSeconds: 0.3 };

/** Something else where the right server refuses. */
export const insteadOfRefusal =
  (otherwise: Twist): Twist =>
  (sent, honest, world) => {
    const answer = honest();
    return typeof answer === 'object' && 'error' in answer ? otherwise(sent, () => answer, world) : answer;
  };

/** What a used state is answered with: the call runs again. */
export const again = (picked: (sent: Sent) => boolean): Twist => {
  const seen = new Set<unknown>();
  return when(isRetry, (sent, honest, world) => {
    const { requestState } = sent.params;
    const used = seen.has(requestState);
    seen.add(requestState);
    return used && picked(sent) ? writesToo(sent, honest, world) : honest();
  });
};
export const twoTimes = { oneTime: false };

export const valued = (sent: Sent, key: string): unknown => sent.params.inputResponses?.[key]?.content?.value;
export const early = (sent: Sent): boolean =>
  isCall(sent) && !isRetry(sent) && sent.params.inputResponses !== undefined;
export const hangUp: Twist = () => 'hang-up';
