/** Runs the checks one after another, each between two honest calls. */
import { Unanswered } from '../answers/answerer.ts';
import { type Check, type Finding, undecided, type Verdict } from '../checks/check.ts';
import type { CheckContext } from '../checks/context.ts';
import { Undecided } from '../checks/undecided.ts';
import { ProbeFailed } from '../target/probe.ts';
import { UsageError } from '../target/target.ts';
import { lacking } from './needs.ts';
import { type Failure, honestCall, type Prepared } from './prepare.ts';
import { unsteady } from './steady.ts';
import { verdictOf } from './verdict.ts';

/** A check with what it found. */
export interface Checked {
  readonly check: Check;
  readonly finding: Finding;
  readonly verdict: Verdict;
  /** Requests that were sent for it, its controls included. */
  readonly calls: number;
  readonly ms: number;
}

/** Told when a check begins and when it has ended. */
export type Progress = (event: { readonly check: Check; readonly done?: Checked }) => void;

/** Runs every check. None of them throws. */
export async function runChecks(
  checks: readonly Check[],
  { context, limit, failure }: Prepared,
  progress: Progress = () => {},
): Promise<readonly Checked[]> {
  const controls = new Controls(context);
  const all: Checked[] = [];
  for (const check of checks) {
    progress({ check });
    context.desk.during = check.id;
    const started = performance.now();
    const before = context.log.length;
    const judged = () => limit.within(() => between(controls, check, context)).catch(undecidedBy);
    const finding =
      failure === undefined
        ? (lacking(check.needs, context) ?? (await judged()))
        : undecided(failure.reason, failure.talk);
    const verdict = verdictOf(check, finding);
    const calls = context.log.length - before;
    const done = { check, finding, verdict, calls, ms: performance.now() - started };
    all.push(done);
    progress({ check, done });
  }
  return all;
}

/** The honest calls around each check. One that ended a check also begins the next. */
class Controls {
  readonly #context: CheckContext;
  // The first honest calls succeeded, or no check would run.
  #good = true;

  constructor(context: CheckContext) {
    this.#context = context;
  }

  async before(): Promise<Failure | undefined> {
    return this.#good ? undefined : this.after();
  }

  async after(): Promise<Failure | undefined> {
    const failure = await this.#call();
    this.#good = failure === undefined;
    return failure;
  }

  async #call(): Promise<Failure | undefined> {
    try {
      await this.#context.fleet.revive();
      return await honestCall(this.#context);
    } catch (error) {
      return { reason: (error as Error).message };
    }
  }
}

async function between(controls: Controls, check: Check, context: CheckContext): Promise<Finding> {
  const before = await controls.before();
  if (before !== undefined)
    return undecided(`the honest call before it failed: ${before.reason}`, before.talk);
  const finding = await found(check, context);
  const alive = context.fleet.instances.every((instance) => instance.alive);
  const after = await controls.after();
  if (!alive && finding.kind === 'held') return undecided('the server ended during it');
  if (after === undefined || conclusive(check, finding)) return finding;
  return undecided(`the honest call after it failed: ${after.reason}`, after.talk);
}

/** What was seen to happen stays seen; that a server said no proves nothing where it also says no to an honest call. */
const conclusive = ({ level }: Check, finding: Finding): boolean =>
  finding.kind === 'broken' &&
  (level === 'M' || finding.matters === true || finding.always === true || finding.explains === true);

/** What a probe showed counts only where that does not change while nothing is called. */
async function confirmed(context: CheckContext, finding: Finding, earlier: number): Promise<Finding> {
  const { effects } = context;
  if (finding.kind !== 'broken' || effects.readings === earlier) return finding;
  const reason = await unsteady(context);
  return reason === undefined ? finding : undecided(reason, finding.talk);
}

function undecidedBy(error: unknown): Finding {
  if (error instanceof Undecided) return undecided(error.message, error.talk);
  throw error;
}

async function found(check: Check, context: CheckContext): Promise<Finding> {
  const earlier = context.effects.readings;
  try {
    return await confirmed(context, await check.run(context), earlier);
  } catch (error) {
    if (error instanceof Undecided) return undecidedBy(error);
    // A second instance that does not start, or a server that does not start again, is no defect of a check.
    if (error instanceof Unanswered || error instanceof ProbeFailed || error instanceof UsageError)
      return undecided(error.message);
    return undecided(`the check itself failed, which is a defect of mrtr-check: ${(error as Error).stack}`);
  }
}
