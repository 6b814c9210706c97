/** `--quick`: selects the gravest checks that end within a minute at the speed of this server. */
import { SINGLE_USE } from '../checks/retry.ts';
import { type Check, notGiven } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { lacking } from './needs.ts';
import { honestCall } from './prepare.ts';
import type { CheckResult } from './schedule.ts';

/** The limit of a whole quick run, in seconds. */
export const QUICK_SECONDS = 58;
/** The part of the run for the chosen checks. The rest is for starting the server, and for delays. */
const SHARE = 0.78;
/** The calls of an attack on state that is protected. Other state can need five times as many, and the limit of the run then ends the check. */
const ON_PROTECTED_STATE = 45;
const START_MS = 1500;
const STARTS = ['restart', 'second-instance', 'next'];
const FIRST_OF_WIRE = 'wire.result-type';

export const LEFT_OUT = 'left out by --quick';
export const leaveOut = (check: Check) => ({ check, finding: notGiven(LEFT_OUT), calls: 0 });

/** Whether a check may be quick. Those that wait for a time to live are not. */
export const canBeQuick = ({ needs }: Check) => !needs.includes('ttl');

/** What a choice rests on: the gravity of a finding under the user's flags, and the speed of the server. */
interface Pace {
  readonly oneTime: boolean;
  readonly needsConsent: boolean;
  readonly rounds: number;
  readonly msPerCall: number;
}

/** Runs the gravest checks that fit, in turns if not all of them do. */
export async function runQuick(
  checks: readonly Check[],
  context: CheckContext,
  runAll: (some: readonly Check[]) => Promise<readonly CheckResult[]>,
) {
  const { facts, oneTime, inputs } = context;
  const rounds = Math.max(1, facts.rounds.length);
  const { needsConsent, mostSeconds = QUICK_SECONDS } = inputs;
  const mostMs = Math.min(mostSeconds, QUICK_SECONDS) * SHARE * 1000;
  const pace = { oneTime, needsConsent, rounds, msPerCall: await timeCall(context) };
  const able = checks.filter(({ needs }) => !lacking(needs, context));
  if (chooseWithin(able, pace, mostMs).length === able.length) return runAll(checks);
  // The checks of the wire read every message, so they run last. Those that cannot run take no time.
  let waiting = able.filter((check) => !isOfTheWire(check));
  const last = checks.filter((check) => !waiting.includes(check));
  const lastMs = costOfAll(able.filter(isOfTheWire), pace);
  const results: CheckResult[] = [];
  const started = performance.now();
  let [estimated, spent] = [0, 0];
  for (;;) {
    // The numbers of calls are maxima: the first checks show how much less is needed.
    const msPerCall = pace.msPerCall * (estimated > 0 ? spent / estimated : 1);
    const turn = chooseTurn(waiting, { ...pace, msPerCall }, mostMs - lastMs - spent);
    if (turn.length === 0) break;
    results.push(...(await runAll(turn)));
    waiting = waiting.filter((check) => !turn.includes(check));
    estimated += costOfAll(turn, pace);
    spent = performance.now() - started;
  }
  return [...results, ...(await runAll(last))];
}

const isOfTheWire = ({ id }: Check) => id.startsWith('wire.');

function costOf(check: Check, { rounds, msPerCall }: Pace) {
  const { id, needs } = check;
  // The checks of the wire share one set of requests.
  const isShared = isOfTheWire(check) && id !== FIRST_OF_WIRE;
  const most = id.startsWith('state.') ? ON_PROTECTED_STATE : Number.POSITIVE_INFINITY;
  const own = isShared ? 0 : Math.min(check.calls(rounds), most);
  return (own + rounds + 1) * msPerCall + (needs.some((need) => STARTS.includes(need)) ? START_MS : 0);
}

const costOfAll = (checks: readonly Check[], pace: Pace) =>
  checks.reduce((sum, check) => sum + costOf(check, pace), 0);

/** 0 for a check that can be a fail under these flags, 1 for a warn, 2 for advice. */
function rankOf({ level, needs, clause }: Check, { oneTime, needsConsent }: Pace) {
  if (needs.includes('consent') && needsConsent) return 0;
  // A second effect of one approval is a fail only where that was declared.
  const isDeclared = oneTime || !(clause === SINGLE_USE || needs.includes('effects'));
  if (level === 'M') return isDeclared ? 0 : 2;
  return level === 'S' ? 1 : 2;
}

/** Chooses the gravest, and among them the cheapest first. */
export function chooseWithin(checks: readonly Check[], pace: Pace, mostMs: number) {
  const chosen = new Set<Check>();
  let left = mostMs;
  for (const check of checks.toSorted(
    (a, b) => rankOf(a, pace) - rankOf(b, pace) || costOf(a, pace) - costOf(b, pace),
  )) {
    if (costOf(check, pace) > left) continue;
    left -= costOf(check, pace);
    chosen.add(check);
  }
  return checks.filter((check) => chosen.has(check));
}

/** Chooses those that run next: of one gravity, so that less grave ones take no time from them. */
export function chooseTurn(checks: readonly Check[], pace: Pace, mostMs: number) {
  const chosen = chooseWithin(checks, pace, mostMs);
  const gravest = Math.min(...chosen.map((check) => rankOf(check, pace)));
  return chosen.filter((check) => rankOf(check, pace) === gravest);
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
