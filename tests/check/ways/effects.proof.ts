/** Effects: when, how often, and for which approval: each way alone is found, and what is no fault is not. */
import { refuses, says, type Twist } from '../scripted.test-support.ts';
import {
  actions,
  acts,
  advice,
  again,
  fail,
  isCall,
  isRetry,
  isSilent,
  notApplicable,
  pass,
  TWO_TIMES,
  undecided,
  ways,
  when,
  writesToo,
} from './ways.test-support.ts';

const ending = acts('sure accept,memo accept');

/** The effects of a call stand where `times` says: after its first request, its second, its third. */
const effectsAt = (...times: readonly number[]): Twist =>
  when(isCall, (sent, honest, world) => {
    const { effects } = world;
    const answer = honest();
    const done = ending(sent) && world.effects === effects;
    const at = ending(sent) ? 2 : actions(sent).includes('account') ? 1 : 0;
    world.effects = effects + (done ? 0 : (times[at] ?? 0));
    return answer;
  });

/** The probe reads otherwise, and each call adds `by` to it. */
const reading = (by: number, text: (effects: number) => string): Twist => {
  const effects = effectsAt(0, 0, by);
  return (sent, honest, world) =>
    sent.params.name === 'count' ? says(text(world.effects)) : effects(sent, honest, world);
};
const UNCOUNTED = reading(1, (effects) => `sent ${'and '.repeat(effects)}done`);
const EUROS = reading(2, (effects) => `${effects} euros`);
const HALVES = reading(1, (effects) => String(effects * 1.5));

ways('effect.once', {
  'one in each round': advice(/changed 2 times: after request 2, after request 3/, effectsAt(0, 1, 1)),
  'two at the end': advice(/One call adds 2 to the probe/, effectsAt(0, 0, 2)),
  'one in the middle is right': pass(/the probe went from/, effectsAt(0, 1, 0)),
  'a balance that goes up by five is right': pass(/the probe went from/, effectsAt(0, 0, 5)),
  'a balance in words that goes up by two is right': pass(/the probe went from/, EUROS),
  'a fraction is right': pass(/the probe went from/, HALVES),
});
ways('effect.before-answer', {
  'with the question': advice(/before anything was answered/, effectsAt(1, 0, 1)),
  'with the first answer is right': pass(/did not change/, effectsAt(0, 1, 0)),
});
ways('effect.per-round', {
  'with each question': advice(/times the effects of an honest one/, effectsAt(1, 1, 1)),
  'a probe without a number': undecided(/holds no single number/, UNCOUNTED),
  'one that cannot be made longer': notApplicable(/cannot be made longer/, when(isSilent, refuses(-32602))),
});

ways('retry.twice', {
  'a second effect behind the first result': fail(/\(2 effects for one approval\)/, again(ending)),
  'a second effect that is no fault': advice(/With --one-time this is a fail/, again(ending), TWO_TIMES),
  'a refusal is right': pass(/no second effect/, when(isRetry, refusesUsed())),
});

ways('retry.concurrent', {
  'a probe without a number': undecided(/effects cannot be counted/, UNCOUNTED),
  'none completes': undecided(/none completed/, crowded()),
  'a second effect': fail(/10 retries at once/, again(ending)),
});

function refusesUsed(): Twist {
  const seen = new Set<unknown>();
  return ({ params }, honest) => {
    if (seen.has(params.requestState)) return refuses(-32602);
    seen.add(params.requestState);
    return honest();
  };
}

/** The end is refused from the second call on that gets so far, and not while controls are made. */
function crowded(): Twist {
  const ends = new Map<unknown, number>();
  return when(ending, (sent, honest) => {
    const times = (ends.get(sent.params.requestState) ?? 0) + 1;
    ends.set(sent.params.requestState, times);
    return times > 1 || ends.size === 3 ? refuses(-32603) : honest();
  });
}

ways('state.rolled-back', {
  'a second effect after the end': fail(
    /worked again after the end/,
    again(() => true),
  ),
  'a second effect of a branch': fail(/presented a second time before the end/, branching()),
  'advice, where nobody wants it once': advice(/before the end/, branching(), TWO_TIMES),
});

/** It remembers the states that came, and not the call that they are of. */
function branching(): Twist {
  const came = new Set<unknown>();
  return when(isRetry, (sent, honest, world) => {
    const { requestState } = sent.params;
    const used = world.states.get(String(requestState))?.call.used !== undefined;
    const first = !came.has(requestState);
    came.add(requestState);
    return used && first ? writesToo(sent, honest, world) : honest();
  });
}
