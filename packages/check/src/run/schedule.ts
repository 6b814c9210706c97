/** Runs the checks one after another, each between two honest calls. */
import { Unanswered } from '../answers/answerer.ts';
import { CHECKS } from '../checks/all.ts';
import { abstain, abstainFor, type Check, type Finding, isFault } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { clipChange, SOON_MS } from '../observations/effects.ts';
import { Undecided } from '../session/session.ts';
import { type CompleteInputs, UsageError } from '../target/target.ts';
import { lacking } from './needs.ts';
import { notOnOldServer } from './old-server.ts';
import { honestCall, honestCallSeen, type Prepared } from './prepare.ts';

/** The result of one check. */
export interface CheckResult {
  readonly check: Check;
  readonly finding: Finding;
  /** The number of requests that it sent, with its controls. */
  readonly calls: number;
}

/** The result of a run. */
export interface Run {
  readonly inputs: CompleteInputs;
  /** In the order of the report. */
  readonly checked: readonly CheckResult[];
  readonly calls: number;
  readonly ms: number;
}

/** Receives each check when it begins, and its place. */
export type Progress = (check: Check, at: number) => void;

export async function runEach(
  checks: readonly Check[],
  { context, failure, isForeign }: Prepared,
  progress: Progress = () => {},
) {
  const between = betweenControls(context);
  const all: CheckResult[] = [];
  const blamed = failure && !isForeign ? await nameFaults(context) : '';
  if (failure instanceof Unanswered && blamed === '') throw new UsageError(failure.message);
  for (const [at, check] of checks.entries()) {
    progress(check, at);
    context.during = check.id;
    const before = context.log.length;
    const judge = () => context.limit.within(() => between(check)).catch(abstainFor);
    const ran =
      (context.instance.isOld ? notOnOldServer(check) : undefined) ??
      (failure
        ? abstain(`${failure.message}${blamed}`, failure.session)
        : (lacking(check.needs, context) ?? (await judge())));
    // Judge received messages even if a control failed: the first message may already be wrong.
    const finding =
      (ran.verdict === 'could-not-run' && !isForeign && (await judgeReceived(check, context))) || ran;
    all.push({ check, finding, calls: context.log.length - before });
  }
  return all;
}

async function judgeReceived(check: Check, context: CheckContext) {
  try {
    return await check.judgeReceived?.(context);
  } catch (error) {
    // It may make a call of its own, which can stay without an answer or without an argument.
    if (isExpected(error)) return undefined;
    throw error;
  }
}

/** Names the checks that find faults in the messages of the failed first call. */
async function nameFaults(context: CheckContext) {
  const wrong: string[] = [];
  if (context.instance.isOld) return '';
  for (const check of CHECKS) if (await judgeReceived(check, context)) wrong.push(check.id);
  return wrong.length === 0 ? '' : ` (${wrong.join(', ')} found what is wrong with its messages)`;
}

/** Makes an honest call. `still`: the reason why its effect was not seen, so that no effect of the check was either. */
async function control(context: CheckContext, countsEffects = false) {
  try {
    await context.fleet.revive();
    if (!countsEffects) return { failed: await honestCall(context) };
    const { failed, still } = await honestCallSeen(context);
    return { failed, still };
  } catch (error) {
    return { failed: error as Undecided };
  }
}

/** Runs each check between two honest calls. The call after one check serves as the call before the next, unless it failed. */
function betweenControls(context: CheckContext) {
  let failed: Undecided | undefined;
  return async (check: Check) => {
    failed &&= (await control(context)).failed;
    if (failed) return abstain(`the honest call before it failed: ${failed.message}`, failed.session);
    const earlier = context.effects.readings;
    const finding = await runCheck(check, context, earlier);
    const passed = finding.verdict === 'pass';
    const alive = context.fleet.instances.every((instance) => instance.alive);
    const after = await control(context, passed && context.effects.readings > earlier);
    failed = after.failed;
    if (!alive && passed) return abstain('the server ended during it');
    if (!failed) return after.still ? abstain(after.still) : finding;
    if (finding.verdict === 'fail' || finding.holds) return finding;
    return abstain(`the honest call after it failed: ${failed.message}`, failed.session);
  };
}

/** Confirms that the probe is steady, because a finding from an unsteady probe does not count. */
async function confirm(context: CheckContext, finding: Finding, earlier: number) {
  if (!isFault(finding) || context.effects.readings === earlier) return finding;
  const reason = await context.once('unsteady', () => whyUnsteady(context));
  return reason ? abstain(reason, finding.session) : finding;
}

/** Whether an error is no defect of a check. A second instance that does not start is a usage error. */
const isExpected = (error: unknown) => error instanceof Undecided || error instanceof UsageError;

async function runCheck(check: Check, context: CheckContext, earlier: number) {
  try {
    return await confirm(context, await check.run(context), earlier);
  } catch (error) {
    const { message, session, stack } = error as Undecided;
    if (isExpected(error)) return abstain(message, session);
    return abstain(`the check itself failed, which is a defect of mrtr-check: ${stack}`);
  }
}

/** Longer than a second, to notice a probe that shows a clock. In milliseconds. */
const A_WHILE_MS = 1200;

/** The number of honest calls to observe: a probe that is slightly late is in time for some. */
export const LOOKED_AT = 5;

async function whyUnsteady(context: CheckContext) {
  const { effects } = context;
  const before = await effects.read();
  await context.pause(A_WHILE_MS);
  const after = await effects.read();
  if (before !== after)
    return effects.blind(
      `the probe changes by itself: ${clipChange(before, after, ', and a moment later ')}`,
    );
  for (let call = 0; call < LOOKED_AT; call++) {
    await honestCall(context);
    const atOnce = await effects.read();
    await context.pause(SOON_MS);
    const soon = await effects.read();
    if (atOnce !== soon) return effects.late(atOnce, soon);
  }
  return undefined;
}
