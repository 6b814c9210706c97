/** One variant of a fault, and the parts of twists to the correct server. */
import { randomUUID } from 'node:crypto';
import type { Inputs, Verdict } from '@mrtr/check';
import { describe, expect, it } from 'vitest';
import type { Answer, Sent, State, Twist } from '../scripted.test-support.ts';
import { asks, bindingOf, checkTwisted, says } from '../scripted.test-support.ts';

interface Way {
  readonly verdict: Verdict;
  readonly words: RegExp;
  readonly twist: Twist;
  readonly inputs: Partial<Inputs>;
}

const ends =
  (verdict: Verdict) =>
  (words: RegExp, twist: Twist, inputs: Partial<Inputs> = {}): Way => ({ verdict, words, twist, inputs });
export const pass = ends('pass');
export const fail = ends('fail');
export const warn = ends('warn');
export const advice = ends('advice');
export const undecided = ends('could-not-run');
export const notApplicable = ends('not-applicable');
export const notGiven = ends('not-run');

export const ways = (id: string, all: Readonly<Record<string, Way>>) =>
  // Concurrent, because they mostly wait.
  describe.concurrent(id, () => {
    for (const [way, { verdict, words, twist, inputs }] of Object.entries(all))
      it(`${way}: ${verdict}`, async () => {
        const { checks } = await checkTwisted(twist, [id], inputs);
        expect(checks[0]?.actual).toMatch(words);
        expect(checks[0]?.verdict).toBe(verdict);
      });
  });

type Picked = (sent: Sent) => boolean;
export const isCall: Picked = ({ method, params }) => method === 'tools/call' && params.name === 'send';
export const isRetry: Picked = (sent) => isCall(sent) && sent.params.requestState !== undefined;
export const unaskable: Picked = (sent) => isCall(sent) && Object.keys(sent.params.capabilities).length === 0;
export const isSilent: Picked = (sent) => isRetry(sent) && sent.params.inputResponses === undefined;
export const early: Picked = (sent) =>
  isCall(sent) && !isRetry(sent) && sent.params.inputResponses !== undefined;
export const actions = ({ params }: Sent): string =>
  Object.entries(params.inputResponses ?? {})
    .map(([key, answer]) => `${key} ${answer?.action}`)
    .join();
/** Selects requests with exactly these actions, or with this one among them. */
export const acts =
  (wanted: string): Picked =>
  (sent) =>
    actions(sent) === wanted;
export const refusing =
  (action: string): Picked =>
  (sent) =>
    actions(sent).includes(action);
export const valued = (sent: Sent, key: string): unknown => sent.params.inputResponses?.[key]?.content?.value;

const give = (answer: Answer | Twist, ...[sent, honest, world]: Parameters<Twist>): Answer =>
  typeof answer === 'function' ? answer(sent, honest, world) : answer;
export const when =
  (picked: Picked, answer: Answer | Twist): Twist =>
  (sent, honest, world) =>
    picked(sent) ? give(answer, sent, honest, world) : honest();
export const insteadOfRefusal =
  (other: Answer | Twist): Twist =>
  (sent, honest, world) => {
    const answer = honest();
    const refused = typeof answer === 'object' && 'error' in answer;
    return refused ? give(other, sent, () => answer, world) : answer;
  };
export const writing =
  (answer: Answer): Twist =>
  (_sent, _honest, world) => {
    world.effects++;
    return answer;
  };
export const writesToo: Twist = (sent, honest, world) => writing(honest())(sent, honest, world);
/** Writes a line at the first request of every call. */
export const auditing =
  (twist: Twist): Twist =>
  (sent, honest, world) => {
    if (isCall(sent) && !isRetry(sent)) world.effects++;
    return twist(sent, honest, world);
  };
/** Fills in these answers if a retry lacks them. */
export const answeredWith = (defaults: NonNullable<Sent['params']['inputResponses']>): Twist =>
  when(isRetry, (sent, honest) => {
    const inputResponses = { ...defaults, ...sent.params.inputResponses };
    return honest({ ...sent, params: { ...sent.params, inputResponses } });
  });
const ABOUT = bindingOf('send', { to: 'bob' }, 'alice');
export const asking =
  (state: Partial<State> = {}): Twist =>
  (_sent, _honest, world) =>
    asks(world, { id: randomUUID(), stage: 0, answers: {}, about: ABOUT, tries: 0, ...state });
export const asked = (inputRequests: object): Answer => ({
  result: { resultType: 'input_required', inputRequests, requestState: 's' },
});
/** Streams messages, each with the id of the request or its own. */
export const streaming =
  (...messages: readonly object[]): Twist =>
  ({ id }) => ({
    stream: true,
    text: messages.map((more) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, ...more })}\n\n`).join(''),
  });
/** Remembers each state with its answers, and runs the call again for a used state with others. */
export const byAnswers = (picked: Picked): Twist => {
  const seen = new Set<string>();
  return when(isRetry, (sent, honest, world) => {
    const { requestState, inputResponses } = sent.params;
    const used = seen.has(JSON.stringify([requestState, inputResponses]));
    seen.add(JSON.stringify([requestState, inputResponses]));
    const answer = honest();
    const isRefused = typeof answer === 'object' && 'error' in answer;
    return isRefused && !used && picked(sent) ? writesToo(sent, () => answer, world) : answer;
  });
};
/** Runs the call again for a used state. */
export const again = (picked: Picked): Twist => {
  const seen = new Set<unknown>();
  return when(isRetry, (sent, honest, world) => {
    const { requestState } = sent.params;
    const used = seen.has(requestState);
    seen.add(requestState);
    return used && picked(sent) ? writesToo(sent, honest, world) : honest();
  });
};

export const NEEDED = { requiredCapabilities: { elicitation: {} } };
export const ROOTS = { method: 'roots/list' };
export const DIFFERENT = says('It was all sent to mallory.');
/** A short limit that a busy machine still meets. */
export const SHORT = { timeoutSeconds: 3 };
export const TWO_TIMES = { oneTime: false };
export const SECOND_STAGE = { stage: 1, answers: { account: 'checking' } };
