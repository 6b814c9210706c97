/** Runs the checks one after another, each between two honest calls. */
import { Unanswered } from '../answers/answerer.ts';
import { CHECKS } from '../checks/all.ts';
import { abstainFor } from '../judging/attack.ts';
import { abstain, type Check, type Finding, type Verdict } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { Undecided } from '../judging/undecided.ts';
import { Unreadable } from '../sandbox.ts';
import { ProbeFailed } from '../target/probe.ts';
import { UsageError } from '../target/target.ts';
import type { Limit } from './limit.ts';
import { lacking } from './needs.ts';
import { type Failure, honestCall, type Prepared } from './prepare.ts';
import { whyUnsteady } from './steady.ts';
import { verdictOf } from './verdict.ts';

/** The result of one check. */
export interface CheckResult {
  readonly check: Check;
  readonly finding: Finding;
  readonly verdict: Verdict;
  /** The number of requests that it sent, with its controls. */
  readonly calls: number;
  readonly ms: number;
}

/** Receives each check when it begins, and again when it ends. */
export type Progress = (event: { readonly check: Check; readonly done?: CheckResult }) => void;

export async function runChecks(
  checks: readonly Check[],
  { context, failure }: Prepared,
  limit: Limit,
  progress: Progress = () => {},
): Promise<readonly CheckResult[]> {
  const between = betweenControls(context);
  const all: CheckResult[] = [];
  const blamed = failure ? await nameFaults(context, failure) : '';
  if (failure?.isUsage && blamed === '') throw new UsageError(failure.reason);
  for (const check of checks) {
    progress({ check });
    context.sessionContext.during = check.id;
    const started = performance.now();
    const before = context.log.length;
    const judge = () => limit.within(() => between(check)).catch(abstainFor);
    const ran =
      failure === undefined
        ? (lacking(check.needs, context) ?? (await judge()))
        : abstain(`${failure.reason}${blamed}`, failure.session);
    // Judge received messages even if a control failed: the first message may already be wrong.
    const finding = (ran.kind === 'undecided' && (await judgeReceived(check, context, failure))) || ran;
    const verdict = verdictOf(check, finding);
    const calls = context.log.length - before;
    const done = { check, finding, verdict, calls, ms: performance.now() - started };
    all.push(done);
    progress({ check, done });
  }
  return all;
}

async function judgeReceived(check: Check, context: CheckContext, failure: Failure | undefined) {
  if (failure?.foreign) return undefined;
  return check.judgeReceived?.(context).catch((error: unknown) => {
    if (error instanceof Unreadable) return undefined;
    throw error;
  });
}

/** Names the checks that find faults in the messages of the failed first call. */
async function nameFaults(context: CheckContext, failure: Failure) {
  const wrong: string[] = [];
  for (const check of CHECKS) if (await judgeReceived(check, context, failure)) wrong.push(check.id);
  return wrong.length === 0 ? '' : ` (${wrong.join(', ')} found what is wrong with its messages)`;
}

async function control(context: CheckContext) {
  try {
    await context.fleet.revive();
    return await honestCall(context);
  } catch (error) {
    return { reason: (error as Error).message };
  }
}

/** Runs each check between two honest calls. The call after one check serves as the call before the next, unless it failed. */
function betweenControls(context: CheckContext): (check: Check) => Promise<Finding> {
  let failed: Failure | undefined;
  return async (check) => {
    failed &&= await control(context);
    if (failed) return abstain(`the honest call before it failed: ${failed.reason}`, failed.session);
    const finding = await runCheck(check, context);
    const alive = context.fleet.instances.every((instance) => instance.alive);
    failed = await control(context);
    if (!alive && finding.kind === 'held') return abstain('the server ended during it');
    if (failed === undefined || isConclusive(check, finding)) return finding;
    return abstain(`the honest call after it failed: ${failed.reason}`, failed.session);
  };
}

/** Whether a finding holds even if the control fails. An effect does; a refusal does not, since the server may refuse everything. */
const isConclusive = ({ level }: Check, finding: Finding) =>
  finding.kind === 'broken' &&
  (level === 'M' || finding.matters === true || finding.always === true || finding.explains === true);

/** Confirms that the probe is steady, because a finding from an unsteady probe does not count. */
async function confirm(context: CheckContext, finding: Finding, earlier: number) {
  const { effects } = context;
  if (finding.kind !== 'broken' || effects.readings === earlier) return finding;
  const reason = await context.once('unsteady', () => whyUnsteady(context));
  return reason === undefined ? finding : abstain(reason, finding.session);
}

async function runCheck(check: Check, context: CheckContext) {
  const earlier = context.effects.readings;
  try {
    return await confirm(context, await check.run(context), earlier);
  } catch (error) {
    if (error instanceof Undecided) return abstainFor(error);
    // These are not defects of the check, such as a second instance that does not start.
    const reasons = [Unanswered, ProbeFailed, Unreadable, UsageError];
    if (reasons.some((reason) => error instanceof reason)) return abstain((error as Error).message);
    return abstain(`the check itself failed, which is a defect of mrtr-check: ${(error as Error).stack}`);
  }
}
