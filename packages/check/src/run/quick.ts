/** `--quick`: selects the gravest checks that end within a minute at the speed of this server. */
import { type Check, notGiven } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { lacking } from './needs.ts';
import { honestCall } from './prepare.ts';

/** The limit of a whole quick run, in seconds. */
export const QUICK_SECONDS = 58;
/** The estimated time of the chosen checks. The rest of the minute is for starting the server, and for delays. */
const MAX_MS = 45_000;
const START_MS = 1500;
const STARTS = ['restart', 'second-instance', 'next'];
const FIRST_OF_WIRE = 'wire.result-type';
const GRAVEST_FIRST = ['M', 'S', 'A'];

export const LEFT_OUT = 'left out by --quick';
export const leaveOut = (check: Check) => ({ check, finding: notGiven(LEFT_OUT), calls: 0 });

/** Whether a check may be quick. Those that wait for a time to live are not. */
export const canBeQuick = ({ needs }: Check) => !needs.includes('ttl');

export async function chooseQuick(checks: readonly Check[], context: CheckContext) {
  const rounds = Math.max(1, context.facts.rounds.length);
  const canRun = checks.filter(({ needs }) => !lacking(needs, context));
  const chosen = chooseWithin(canRun, rounds, await timeCall(context));
  // Keep checks that cannot run: they take no time, and report their own reason.
  return checks.filter((check) => chosen.includes(check) || !canRun.includes(check));
}

/** Chooses by level, and within a level the cheapest first. */
export function chooseWithin(checks: readonly Check[], rounds: number, msPerCall: number) {
  const costOf = ({ id, calls, needs }: Check) => {
    // The checks of the wire share one set of requests.
    const own = id.startsWith('wire.') && id !== FIRST_OF_WIRE ? 0 : calls(rounds);
    return (own + rounds + 1) * msPerCall + (needs.some((need) => STARTS.includes(need)) ? START_MS : 0);
  };
  const rank = ({ level }: Check) => GRAVEST_FIRST.indexOf(level);
  const chosen = new Set<Check>();
  let left = MAX_MS;
  for (const check of checks.toSorted((a, b) => rank(a) - rank(b) || costOf(a) - costOf(b))) {
    if (costOf(check) > left) continue;
    left -= costOf(check);
    chosen.add(check);
  }
  return checks.filter((check) => chosen.has(check));
}

/** Measures the time of one request, plus half a probe reading: about every second request needs one. */
async function timeCall(context: CheckContext) {
  const started = performance.now();
  await honestCall(context);
  const called = performance.now();
  await context.effects.read();
  const requests = Math.max(1, context.facts.rounds.length) + 1;
  return (called - started) / requests + (performance.now() - called) / 2;
}
