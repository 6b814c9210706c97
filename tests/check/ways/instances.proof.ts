/** Two instances, and calls that nobody comes back to: each way alone is found, and what is no fault is not. */
import { refuses, type Sent, says, type Twist } from '../scripted.test-support.ts';
import {
  advice,
  again,
  asking,
  DIFFERENT,
  fail,
  isCall,
  isRetry,
  pass,
  undecided,
  ways,
  when,
} from './ways.test-support.ts';

const elsewhere = (sent: Sent): boolean => isRetry(sent) && sent.instance === 1;

/** A call that went to the other instance in between ends otherwise, and no other one does. */
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
  'another result': fail(/finished the call with another result/, crossed()),
  'a refusal that says why': advice(
    /The second instance refused to go on: error -32602: "No\."/,
    when(elsewhere, refuses(-32602)),
  ),
  'the question again': advice(/asked again, and did not end/, when(elsewhere, asking())),
  'no answer': undecided(/gave no answer: the connection failed/, when(elsewhere, 'hang-up')),
});

const THERE = again(({ instance }) => instance === 1);
ways('instance.replay-elsewhere', {
  'a second effect there': fail(/The used approval at the second instance/, THERE),
  'no answer there': undecided(/the connection failed/, when(elsewhere, 'hang-up')),
});

const OPEN = {
  probe: { kind: 'operation', operation: { kind: 'tool', name: 'open', arguments: {} } },
} as const;

/** After so many calls in a row that nobody answers it takes no more, of anybody or of this principal, or refuses one. */
function full(most: number, of: 'all' | 'each' | 'once'): Twist {
  const open = new Map<string, number>();
  return when(isCall, (sent, honest) => {
    const who = of === 'each' ? sent.principal : 'all';
    const calls = isRetry(sent) ? 0 : (open.get(who) ?? 0) + 1;
    open.set(who, calls);
    return (of === 'once' ? calls === most + 1 : calls > most) ? refuses(-32603) : honest();
  });
}

const counted = when(({ params }) => params.name === 'open', says('3 open'));

ways('abandon.flat', {
  'a server that is full': advice(
    /After 40 abandoned calls .* Another principal is not served either/,
    full(40, 'all'),
  ),
  'one that is full for one principal': advice(
    /After 40 abandoned calls .* Another principal is still served/,
    full(40, 'each'),
  ),
  'one that is out of order': undecided(/after 4 calls the server is out of order/, full(4, 'once')),
  'a server that keeps each call': advice(
    /the probe went from \d+ to \d+ and to \d+/,
    (_sent, honest) => honest(),
    OPEN,
  ),
  'one that keeps none': pass(/a quarter of/, counted, OPEN),
});
