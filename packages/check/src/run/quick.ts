/** `--quick`: the gravest checks that together end within a minute, as fast as this server answers. */
import type { Check } from '../judging/check.ts';
import { notGiven } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { honestCall } from './prepare.ts';
import type { Checked } from './schedule.ts';

/** The limit of a whole quick run, in seconds. */
export const QUICK_SECONDS = 58;
/** For the chosen checks, by estimate: the rest of the minute is for starting the server, and for what is slower. */
const MOST_MS = 38_000;
const START_MS = 1500;
const STARTS = ['restart', 'second-instance', 'next'];
const GRAVEST_FIRST = ['M', 'M*', 'S', 'A'];

export const LEFT_OUT = 'left out by --quick';
export const leaveOut = (check: Check): Checked => ({
  ...{ check, finding: notGiven(LEFT_OUT), verdict: 'not-run', calls: 0, ms: 0 },
});

/** What waits for a time to live is never quick. */
export const canBeQuick = ({ needs }: Check): boolean => !needs.includes('ttl');

/** Among checks of one level, the cheapest come first. */
export async function chooseQuick(
  checks: readonly Check[],
  context: CheckContext,
): Promise<readonly Check[]> {
  const rounds = Math.max(1, context.facts.rounds.length);
  const ms = await timeCall(context);
  const costOf = ({ calls, needs }: Check): number =>
    (calls(rounds) + rounds + 1) * ms + (needs.some((need) => STARTS.includes(need)) ? START_MS : 0);
  const rank = ({ level }: Check) => GRAVEST_FIRST.indexOf(level);
  const inOrder = checks.toSorted((a, b) => rank(a) - rank(b) || costOf(a) - costOf(b));
  let left = MOST_MS;
  const chosen = inOrder.filter((check) => {
    const cost = costOf(check);
    if (cost > left) return false;
    left -= cost;
    return true;
  });
  return checks.filter((check) => chosen.includes(check));
}

/** How long one request takes, with the reading of the probe that stands beside each. */
async function timeCall(context: CheckContext): Promise<number> {
  const started = performance.now();
  await honestCall(context);
  const called = performance.now();
  await context.effects.read();
  const requests = Math.max(1, context.facts.rounds.length) + 1;
  return (called - started) / requests + (performance.now() - called);
}
