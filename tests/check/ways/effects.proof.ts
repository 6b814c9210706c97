/** Effects, instances and abandoned calls: each variant of a fault is found alone, without false findings. */
import { probeOf } from '../bare.test-support.ts';
import { refuses, type Sent, says, type Twist, untwisted } from '../scripted.test-support.ts';
import {
  actions,
  acts,
  advice,
  again,
  asking,
  byAnswers,
  DIFFERENT,
  fail,
  insteadOfRefusal,
  isCall,
  isRetry,
  pass,
  TWO_TIMES,
  undecided,
  valued,
  ways,
  when,
  writesToo,
} from './ways.test-support.ts';

const ending = acts('sure accept,memo accept');

/** Asks for ever after two honest calls. */
function askingForEver(): Twist {
  let calls = 0;
  return when((sent) => isCall(sent) && ++calls > 6, asking());
}

/** The numbers of effects after the first, second and third request of a call. */
const effectsAt = (...times: readonly number[]): Twist =>
  when(isCall, (sent, honest, world) => {
    const { effects } = world;
    const answer = honest();
    const done = ending(sent) && world.effects === effects;
    const at = ending(sent) ? 2 : actions(sent).includes('account') ? 1 : 0;
    world.effects = effects + (done ? 0 : (times[at] ?? 0));
    return answer;
  });

/** Changes the text of the probe. Each call adds `by` effects. */
const reading = (by: number, text: (effects: number) => string): Twist => {
  const effects = effectsAt(0, 0, by);
  return (sent, honest, world) =>
    sent.params.name === 'count' ? says(text(world.effects)) : effects(sent, honest, world);
};
const UNCOUNTED = reading(1, (effects) => `sent ${'and '.repeat(effects)}done`);
const EUROS = reading(2, (effects) => `${effects} euros`);
const HALVES = reading(1, (effects) => String(effects * 1.5));

ways('effect.once', {
  'one in each round': advice(
    /changed 2 times: after request 2, after request 3.* or several of different kinds\. .* counts effects of/,
    effectsAt(0, 1, 1),
  ),
  'one in the middle is right': pass(/the probe went from/, effectsAt(0, 1, 0)),
  'a balance that goes up by five is right': pass(/the probe went from/, effectsAt(0, 0, 5)),
  'a balance in words that goes up by two is right': pass(/the probe went from/, EUROS),
  'a fraction is right': pass(/the probe went from/, HALVES),
  'a call that never ends': undecided(/it still asked after/, askingForEver()),
});
ways('effect.before-answer', {
  'with the question': advice(/before anything was answered/, effectsAt(1, 0, 1)),
});
ways('effect.per-round', {
  'a probe without a number': undecided(/holds no single number/, UNCOUNTED),
});

ways('retry.twice', {
  'a second effect behind the first result': fail(/\(2 effects for one approval\)/, again(ending)),
  'a second effect that is no fault': advice(/With --one-time this is a fail/, again(ending), TWO_TIMES),
});

const otherMemo = (sent: Sent): boolean => isRetry(sent) && valued(sent, 'sure') === true;

ways('retry.other-answers', {
  'another text': fail(/^The same state with another answer .* had a second effect/, byAnswers(otherMemo)),
  'a right server': pass(/had no second effect/, untwisted),
});

ways('retry.concurrent', {
  'a probe without a number': undecided(/effects cannot be counted/, (sent, honest, world) =>
    when(ending, insteadOfRefusal(says('Sent.')))(sent, () => UNCOUNTED(sent, honest, world), world),
  ),
  'none completes': undecided(/none completed/, crowded()),
});

/** Refuses a repeated end, and the end of the third call. Controls pass. */
function crowded(): Twist {
  const ends = new Map<unknown, number>();
  return when(ending, (sent, honest) => {
    const times = (ends.get(sent.params.requestState) ?? 0) + 1;
    ends.set(sent.params.requestState, times);
    return times > 1 || ends.size === 3 ? refuses(-32603) : honest();
  });
}

ways('state.rolled-back', {
  'a second effect of a branch': fail(/presented a second time before the end/, branching()),
  'advice, where nobody wants it once': advice(/before the end/, branching(), TWO_TIMES),
});

/** Remembers used states, but not their call. */
function branching(): Twist {
  const came = new Set<unknown>();
  return when(isRetry, (sent, honest, world) => {
    const { requestState } = sent.params;
    const used = world.used.has(world.states.get(String(requestState))?.id ?? '');
    const first = !came.has(requestState);
    came.add(requestState);
    return used && first ? writesToo(sent, honest, world) : honest();
  });
}

const elsewhere = (sent: Sent): boolean => isRetry(sent) && sent.instance === 1;

/** Changes the end of calls that went to the other instance in between. */
function crossed(): Twist {
  let away = false;
  return when(isRetry, (sent, honest) => {
    const back = away && sent.instance === 0;
    away = sent.instance === 1;
    const answer = honest();
    return back ? DIFFERENT : answer;
  });
}

ways('instance.second', {
  'another result': fail(/ended the call with another result/, crossed()),
  'a refusal': advice(/second instance rejected the call: error -32602/, when(elsewhere, refuses(-32602))),
  'the question again': advice(/asked again, and did not end/, when(elsewhere, asking())),
  'no answer': undecided(/gave no answer: the connection failed/, when(elsewhere, 'hang-up')),
});

ways('instance.replay-elsewhere', {
  'no answer there': undecided(/the connection failed/, when(elsewhere, 'hang-up')),
});

const OPEN = { probe: probeOf('open') };

/** Refuses new calls after this many abandoned ones in a row, in all or of one principal. */
function full(most: number, of: 'all' | 'each'): Twist {
  const open = new Map<string, number>();
  return when(isCall, (sent, honest) => {
    const who = of === 'each' ? sent.principal : 'all';
    const calls = isRetry(sent) ? 0 : (open.get(who) ?? 0) + 1;
    open.set(who, calls);
    return calls > most ? refuses(-32603) : honest();
  });
}

ways('abandon.flat', {
  'a server that is full': advice(/After 40 .* Another principal is not served either/, full(40, 'all')),
  'one full for one principal': advice(/After 40 .* Another principal is still served/, full(40, 'each')),
  'one that keeps each call': advice(/the probe went from \d+ to \d+ and to \d+/, untwisted, OPEN),
});
