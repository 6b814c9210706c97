/** One run: a target, the checks that are wanted, and what they found. */
import { CHECKS, inRunningOrder } from '../checks/all.ts';
import { MAX_WAIT } from '../checks/state/binding.ts';
import type { Check } from '../judging/check.ts';
import { startSandbox } from '../sandbox.ts';
import { Fleet } from '../target/instance.ts';
import { type Address, type Inputs, UsageError } from '../target/target.ts';
import { Limit } from './limit.ts';
import { prepare } from './prepare.ts';
import { canBeQuick, chooseQuick, leaveOut, QUICK_SECONDS } from './quick.ts';
import { type Checked, type Progress, runChecks } from './schedule.ts';

/** Everything that came of a run. */
export interface Run {
  readonly inputs: Inputs;
  /** In the order of the report. */
  readonly checked: readonly Checked[];
  readonly calls: number;
  readonly ms: number;
}

/** What a run is told; only the address and the operation are needed. */
export type RunInputs = Pick<Inputs, 'operation'> &
  Partial<Omit<Inputs, 'operation' | 'address'>> & {
    readonly address: Omit<Address, 'headers'> & Partial<Pick<Address, 'headers'>>;
  };

/** What holds where nothing else is said. */
export const DEFAULTS = {
  answers: {},
  generateAnswers: false,
  oneTime: false,
  needsConsent: false,
  allowEffects: false,
  seed: 1,
  timeoutSeconds: 30,
} as const;

/** The limit of a run where none is given, in seconds, beside the time to live that is waited for. */
export const MAX_SECONDS = 900;

/**
 * Runs the checks against a server. What it starts, it also ends.
 *
 * @throws UsageError where the inputs do not allow a run; nothing that may have effects has been called then, unless
 *   the server asked what nobody answers.
 * @example
 * const { checked } = await run({
 *   address: { url: 'http://localhost:3000/mcp' },
 *   operation: { kind: 'tool', name: 'plan_trip', arguments: {} },
 *   answers: { city: 'Tokyo' },
 * });
 */
export async function run(given: RunInputs, progress?: Progress): Promise<Run> {
  const inputs: Inputs = { ...DEFAULTS, ...given, address: { headers: {}, ...given.address } };
  const started = performance.now();
  const selected = selectChecks(inputs.only);
  const waits = inputs.quick && inputs.ttlSeconds !== undefined;
  const wanted = waits ? selected.filter(canBeQuick) : selected;
  const limit = new Limit(mostSecondsOf(inputs, wanted));
  const patience = { timeoutMs: inputs.timeoutSeconds * 1000, over: limit.over };
  const fleet = new Fleet(inputs.address, patience);
  try {
    await Promise.all([fleet.first.start(), startSandbox()]);
    const next = wanted.some(({ needs }) => needs.includes('next')) ? await fleet.startNext() : undefined;
    const prepared = await prepare(inputs, { fleet, patience, limit, next });
    const isChosen = inputs.quick && !prepared.failure;
    const chosen = isChosen ? await chooseQuick(wanted, prepared.context) : wanted;
    const checked = await runChecks(inRunningOrder(chosen), prepared, limit, progress);
    const inOrder = selected.map((one) => checked.find(({ check }) => check === one) ?? leaveOut(one));
    return { inputs, checked: inOrder, calls: prepared.context.log.length, ms: performance.now() - started };
  } finally {
    limit.end();
    await fleet.close();
  }
}

/** @throws UsageError where the run would end before the time to live has */
function mostSecondsOf({ mostSeconds, quick, ttlSeconds = 0 }: Inputs, wanted: readonly Check[]): number {
  const waits = wanted.some(({ needs }) => needs.includes('ttl')) && ttlSeconds <= MAX_WAIT ? ttlSeconds : 0;
  const most = mostSeconds ?? (quick ? QUICK_SECONDS : MAX_SECONDS + waits);
  if (waits < most) return most;
  throw new UsageError(`--ttl ${waits} is waited for, and --max-time ${most} ends the run before that.`);
}

/** An id may also be the beginning of several: `state`. @throws UsageError where one names no check */
export function selectChecks(only: readonly string[] | undefined): readonly Check[] {
  if (only === undefined) return CHECKS;
  if (only.length === 0) throw new UsageError('--only names no check. --list prints them all.');
  for (const id of only)
    if (!CHECKS.some((check) => names(id, check)))
      throw new UsageError(`There is no check '${id}'. --list prints them all.`);
  return CHECKS.filter((check) => only.some((id) => names(id, check)));
}

const names = (id: string, check: Check): boolean =>
  check.id === id || check.id.startsWith(id.endsWith('.') ? id : `${id}.`);
