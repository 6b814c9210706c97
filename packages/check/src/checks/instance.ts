/** A second instance, and a restarted one. */
import { abstain, advise, cite, defineCheck, fail, pass } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { Likeness } from '../session/likeness.ts';
import { MAX_ROUNDS, type Session } from '../session/session.ts';
import { comparable, type ReplyOutcome, saysNo } from '../wire/outcome.ts';
import { presentTwice, singleUseCheck } from './retry.ts';

export const STATELESS = cite(
  'basic, statelessness; basic/patterns/mrtr, basic workflow',
  'Servers SHOULD NOT require that a client reuse the same connection or process to perform related operations. The ' +
    'server processing the retry does not need any information beyond what is directly present in the retry request.',
);

/** Judges a call that continued on another instance. A rejection is advice; another result is a fail. */
async function judgeMoved(context: CheckContext, session: Session, where: string) {
  const end = session.last as ReplyOutcome;
  if (end.kind === 'failed') return abstain(`${where} gave no answer: ${end}`);
  if (end.kind === 'completed') {
    const like = context.facts.endsLike(end);
    if (like === false && !(await likeHonestThere(context, session, end)))
      return fail(`${where} ended the call with another result: ${end}.`, session);
    return pass(`${where} finished the call`, session);
  }
  if (saysNo(end)) return advise(`${where} rejected the call: ${end}.`, session);
  return advise(`${where} asked again, and did not end: ${end}.`, session);
}

/** Whether honest calls end the same on that instance: its name or start time may be in every result. */
async function likeHonestThere(context: CheckContext, { instance }: Session, end: ReplyOutcome) {
  const likeness = new Likeness();
  for (let call = 0; call < 2; call++) likeness.add(comparable(await context.session({ instance }).finish()));
  return likeness.like(comparable(end)) === true;
}

// Advice, because a server may hold calls in memory. Then it owes an error that says why.
const SHARED = {
  clause: STATELESS,
  remedy:
    'Give every instance the same key from a secret store, and for single use the same ledger. Keep data that cannot be in ' +
    'the state in a shared store, or route each call to the instance that began it (docs/sticky-routing.md).',
};

export const INSTANCE = [
  /** Alternates between instances, to find servers that survive only one change. */
  defineCheck('instance.second', 'A', {
    ...SHARED,
    expected: 'A call whose rounds alternate between two instances finishes.',
    needs: ['second-instance'],
    run: async (context) => {
      const [here, there] = [context.fleet.first, await context.fleet.second()];
      const session = await context.untilRound(0);
      // Send every round to the other instance, as a load balancer may.
      await session.finish(MAX_ROUNDS, () => {
        session.instance = session.instance === here ? there : here;
        return {};
      });
      return judgeMoved(
        context,
        session,
        session.instance === here ? 'The first instance' : 'The second instance',
      );
    },
  }),
  defineCheck('instance.restart', 'A', {
    ...SHARED,
    expected: 'A server that is killed and started again finishes the call.',
    needs: ['restart'],
    run: async (context) => {
      const session = await context.untilRound(context.roundsWithState.at(-1) ?? context.lastRound);
      await context.fleet.restart();
      for (const kind of ['kill', 'restart'] as const)
        session.record({ kind, instance: context.fleet.first.id });
      await session.finish();
      return judgeMoved(context, session, 'The restarted server');
    },
  }),
  singleUseCheck('instance.replay-elsewhere', {
    expected: 'An approval that was used at one instance cannot be used again at another.',
    needs: ['second-instance'],
    calls: (rounds) => rounds + 2,
    run: async (context) => {
      const there = await context.fleet.second();
      const session = await context.untilRound();
      return presentTwice(context, session, 'The used approval at the second instance', there);
    },
  }),
];
