/** Runs checks against one target. */
import { CHECKS, inRunningOrder } from '../checks/all.ts';
import { MAX_WAIT } from '../checks/state/binding.ts';
import type { Check } from '../judging/check.ts';
import { type Report, reportOf } from '../report/report.ts';
import { DEFAULTS, type Inputs, UsageError } from '../target/target.ts';
import { withServer } from './limit.ts';
import { forOldServer } from './old-server.ts';
import { prepare } from './prepare.ts';
import { canBeQuick, leaveOut, QUICK_SECONDS, runQuick } from './quick.ts';
import { type Progress, type Run, runEach } from './schedule.ts';

/** Every input by its name. */
const INPUTS: Readonly<Record<keyof Inputs, unknown>> = {
  ...DEFAULTS,
  address: true,
  operation: true,
  otherArguments: true,
  otherOperation: true,
  probe: true,
  vary: true,
  ttlSeconds: true,
  only: true,
  quick: true,
  mostSeconds: true,
};

/** The default limit of a run in seconds, without the wait for a time to live. */
export const MAX_SECONDS = 900;

/**
 * Runs the checks against a server. Ends every process that it starts.
 *
 * @throws UsageError if an input is unknown, or the inputs do not allow a run. Nothing with effects has been called then, unless the server
 *   asked a question without a given answer.
 * @example
 * const { summary, checks } = await run({
 *   address: { url: 'http://localhost:3000/mcp' },
 *   operation: { kind: 'tool', name: 'plan_trip', arguments: {} },
 *   answers: { city: 'Tokyo' },
 * });
 */
export const run = async (inputs: Inputs): Promise<Report> => reportOf(await runChecks(inputs));

/** Runs the checks, and returns their findings without a report. */
export async function runChecks(given: Inputs, progress?: Progress): Promise<Run> {
  rejectUnknown(given);
  const inputs = { ...DEFAULTS, ...given };
  const started = performance.now();
  const selected = selectChecks(inputs.only);
  const waits = inputs.quick && inputs.ttlSeconds !== undefined;
  const wanted = waits ? selected.filter(canBeQuick) : selected;
  return withServer(inputs, mostSecondsOf(inputs, wanted), async (served) => {
    const crosses = wanted.some(({ needs }) => needs.includes('next'));
    const next = crosses ? await served.fleet.startNext() : undefined;
    const prepared = await prepare(inputs, served, next);
    const isChosen = inputs.quick && !prepared.failure;
    const { isOld } = served.fleet.first;
    let begun = 0;
    const runAll = (some: readonly Check[]) => {
      const ordered = inRunningOrder(some);
      const count = progress && ((check: Check) => progress(check, begun++));
      return runEach(isOld ? ordered.map(forOldServer) : ordered, prepared, count);
    };
    const checked = await (isChosen ? runQuick(wanted, prepared.context, runAll) : runAll(wanted));
    const inOrder = selected.map((one) => checked.find(({ check }) => check.id === one.id) ?? leaveOut(one));
    return { inputs, checked: inOrder, calls: prepared.context.log.length, ms: performance.now() - started };
  });
}

/** An ignored input would mean fewer checks. @throws UsageError if an input is unknown, with the name that was meant */
function rejectUnknown(given: object) {
  const names = Object.keys(INPUTS);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = names.find((name) => name.startsWith(unknown));
  const hint = meant ? `Did you mean '${meant}'?` : `The inputs are ${names.join(', ')}.`;
  throw new UsageError(`run: there is no input '${unknown}'. ${hint}`);
}

/** The limit of the run. @throws UsageError if the run would end before the time to live */
function mostSecondsOf({ mostSeconds, quick, ttlSeconds = 0 }: Inputs, wanted: readonly Check[]) {
  const waits = wanted.some(({ needs }) => needs.includes('ttl')) && ttlSeconds <= MAX_WAIT ? ttlSeconds : 0;
  const most = mostSeconds ?? (quick ? QUICK_SECONDS : MAX_SECONDS + waits);
  if (waits < most) return most;
  throw new UsageError(`The run waits for --ttl ${waits}, but --max-time ${most} ends it earlier.`);
}

/** Selects checks by id, or by prefix such as `state`. @throws UsageError if one names no check */
export function selectChecks(only: readonly string[] | undefined) {
  if (!only) return CHECKS;
  if (only.length === 0) throw new UsageError('--only names no check. --list prints them all.');
  for (const id of only)
    if (!CHECKS.some((check) => names(id, check)))
      throw new UsageError(`There is no check '${id}'. --list prints them all.`);
  return CHECKS.filter((check) => only.some((id) => names(id, check)));
}

const names = (id: string, check: Check) =>
  check.id === id || check.id.startsWith(id.endsWith('.') ? id : `${id}.`);
