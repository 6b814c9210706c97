/** Another instance, and one that was killed and started again. */

import { Likeness } from '../talk/likeness.ts';
import { comparable, inWords, type Outcome, saysNo } from '../talk/outcome.ts';
import { MOST_ROUNDS, type Talk } from '../talk/talk.ts';
import { broken, type Check, type Finding, held, undecided } from './check.ts';
import type { CheckContext } from './context.ts';
import { LEDGER, onceOnly, SINGLE_USE } from './retry.ts';

export const STATELESS = {
  at: '2026-07-28, basic, statelessness; basic/patterns/mrtr, basic workflow',
  words:
    'Servers SHOULD NOT require that a client reuse the same connection or process to perform related operations. The ' +
    'server processing the retry does not need any information beyond what is directly present in the retry request.',
};

/** The finding of a call that went on elsewhere. A refusal is advice; another result is a fault. */
async function wentOn(context: CheckContext, talk: Talk, where: string): Promise<Finding> {
  const end = talk.last as Outcome;
  if (end.kind === 'failed') return undecided(`${where} gave no answer: ${inWords(end)}`);
  if (end.kind === 'completed') {
    const like = context.facts.final.like(comparable(end));
    if (like === false && !(await likeHonestThere(context, talk, end)))
      return broken(`${where} finished the call with another result: ${inWords(end)}.`, talk, {
        always: true,
      });
    return held(`${where} finished the call`, talk);
  }
  if (saysNo(end)) return broken(`${where} refused to go on: ${inWords(end)}.`, talk);
  return broken(`${where} asked again, and did not end: ${inWords(end)}.`, talk);
}

/** Whether honest calls end so at that instance: its name, or the time of its start, may stand in every result. */
async function likeHonestThere(context: CheckContext, { instance }: Talk, end: Outcome): Promise<boolean> {
  const likeness = new Likeness();
  for (let call = 0; call < 2; call++) likeness.add(comparable(await context.talk({ instance }).finish()));
  return likeness.like(comparable(end)) === true;
}

// Advice, as servers that hold a call in memory are allowed: what they owe is a refusal in words.
const SHARE =
  'Give every instance the same key, from a secret store and not made at start; keep what cannot be in the state in a ' +
  'store that they share, or route a call to the instance that began it (docs/sticky-routing.md).';

/** Rounds alternate, so that a server that only tolerates one change of instance is found. */
export const second: Check = {
  id: 'instance.second',
  family: 'safety',
  level: 'A',
  expected: 'A call whose rounds go to two instances in turn comes to its end.',
  clause: STATELESS,
  remedy: SHARE,
  needs: ['question', 'second-instance'],
  calls: (rounds) => rounds + 1,
  run: async (context): Promise<Finding> => {
    const [here, there] = [context.fleet.first, await context.fleet.second()];
    const talk = await context.untilRound(0);
    // Every round at the other one, as behind a load balancer.
    for (let round = 0; talk.last?.kind === 'asked' && round < MOST_ROUNDS; round++) {
      talk.instance = talk.instance === here ? there : here;
      await talk.retry();
    }
    return wentOn(context, talk, talk.instance === here ? 'The first instance' : 'The second instance');
  },
};

/** SIGKILL: what was not written down is gone. */
export const restart: Check = {
  id: 'instance.restart',
  family: 'safety',
  level: 'A',
  expected: 'A server that is killed and started again finishes the call.',
  clause: STATELESS,
  remedy: SHARE,
  needs: ['question', 'restart'],
  calls: (rounds) => rounds + 1,
  run: async (context): Promise<Finding> => {
    const talk = await context.untilRound(context.roundsWithState.at(-1) ?? context.lastRound);
    await context.fleet.restart();
    talk.evidence.restarted(context.fleet.first.id);
    await talk.retry();
    await talk.finish();
    return wentOn(context, talk, 'The restarted server');
  },
};

/** A ledger in memory knows nothing of its neighbour. */
export const replayElsewhere: Check = {
  id: 'instance.replay-elsewhere',
  family: 'spec',
  level: 'M*',
  expected: 'An approval that was used at one instance is used at every other one too.',
  clause: SINGLE_USE,
  remedy: LEDGER,
  needs: ['question', 'effects', 'second-instance'],
  calls: (rounds) => rounds + 2,
  run: async (context): Promise<Finding> => {
    const there = await context.fleet.second();
    const talk = await context.untilRound(context.lastRound);
    const last = talk.honestRetry();
    const before = await context.effects.read();
    const first = await talk.retry(last);
    if (first.kind !== 'completed') return undecided(`the honest retry did not complete: ${inWords(first)}`);
    const between = await context.effects.read();
    talk.instance = there;
    const again = await talk.retry(last);
    if (again.kind === 'failed') return undecided(inWords(again));
    const effect = await context.effects.since(between, talk);
    const words = `The used approval at the second instance (${inWords(again)})`;
    return onceOnly(context, talk, before, await context.effects.read(), { effect, words });
  },
};
