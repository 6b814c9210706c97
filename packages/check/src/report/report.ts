/** The report of one run, in the format of `report.schema.json`. */
import type { Transcript } from '@mrtr/harness/transcript';
import {
  type Check,
  FINDINGS,
  type Finding,
  isFault,
  UNDECIDED,
  VERDICTS,
  type Verdict,
} from '../judging/check.ts';
import { UNCOUNTED } from '../observations/effects.ts';
import { LEFT_OUT } from '../run/quick.ts';
import type { CheckResult, Run } from '../run/schedule.ts';
import { type CompleteInputs, isStarted, METHOD } from '../target/target.ts';
import { type JsonObject, shorten } from '../wire/json.ts';
import { acceptanceText, type Baseline, isExpired } from './baseline.ts';
import { type Redact, redactor } from './redact.ts';
import { curlOf, reproducing } from './shell.ts';
import { transcriptOf } from './transcript.ts';

/** The format of the report, and the checked revision of the specification. */
export const PROFILE = 'mrtr-check/1 2026-07-28';

/** The result of one check. */
export interface ReportedCheck
  extends Pick<Check, 'id' | 'family' | 'level' | 'expected' | 'clause' | 'remedy'> {
  readonly verdict: Verdict;
  /** The behaviour that the check observed, or why it observed nothing. */
  readonly actual: string;
  /** The baseline's reason for accepting the finding, or null. */
  readonly accepted: string | null;
  /** A command that runs this check alone. */
  readonly reproduce: string;
  /** The decisive request as a curl command, or null if the checker started the server. */
  readonly curl: string | null;
  /** The smallest case that shows a finding, or the honest call that failed. */
  readonly conversation: Transcript | null;
  /** The number of requests that it sent, with its controls. */
  readonly calls: number;
}

/** The checks with these verdicts, in their order. */
const checksWith = (checks: readonly ReportedCheck[], verdicts: readonly Verdict[]) =>
  verdicts.flatMap((verdict) => checks.filter((one) => one.verdict === verdict));

export const acceptedMark = ({ accepted }: ReportedCheck) => (accepted === null ? '' : ' (accepted)');

export const partsOf = ({ expected, actual, clause, remedy, accepted }: ReportedCheck) => [
  { name: 'Expected', text: expected },
  { name: 'Seen', text: actual },
  { name: 'Clause', text: `${clause.at}: “${clause.words}”` },
  { name: 'Do', text: remedy },
  ...(accepted === null ? [] : [{ name: 'Accepted', text: accepted }]),
];

export const commandsOf = ({ reproduce, curl }: ReportedCheck) =>
  curl === null ? [reproduce] : [reproduce, curl];

/** Reasons to trust the passes less. */
function caveatsOf({ checks }: Report) {
  const left = checks.filter(({ actual }) => actual === LEFT_OUT).map(({ id }) => id);
  const uncounted = checks.filter(({ actual }) => actual === UNCOUNTED).length;
  const unseen = checks.filter((one) => one.verdict === 'pass' && one.actual.includes('without --probe'));
  const words = `${unseen.length} of the passes rest on the server's words: --probe would show its effects.`;
  return [
    ...(left.length === 0 ? [] : [`--quick left out: ${left.join(', ')}.`]),
    ...(unseen.length === 0 ? [] : [words]),
    ...(uncounted === 0 ? [] : [`${uncounted} ${uncounted === 1 ? 'check' : 'checks'} ${NO_NUMBER}`]),
  ];
}

const NO_NUMBER =
  'could not run, and the run ends with 3 unless something failed: this probe shows that something changed, not how often. ' +
  "Give one whose reading is a number, such as --probe 'cmd:wc -l < FILE'.";

function exitWords({ summary, exitCode, checks }: Report) {
  const failed = checks.some(({ verdict, accepted }) => verdict === 'fail' && accepted === null);
  const meaning = {
    0: 'nothing failed',
    1: failed ? 'a check failed' : 'under --strict a warn counts as a fail',
    3: summary['could-not-run'] > 0 ? 'a check could not decide' : 'an input was not given',
  }[exitCode];
  return `exit ${exitCode}: ${summary.stale.length > 0 ? 'the baseline is stale' : meaning}`;
}

/** The number of checks by verdict, and totals. */
export interface Summary extends Readonly<Record<Verdict, number>> {
  /** Checks that ran to a verdict of pass, fail, warn or advice. */
  readonly ran: number;
  readonly checks: number;
  /** The number of requests, without readings of the probe. */
  readonly calls: number;
  readonly seconds: number;
  /** Accepted findings that are no longer found. */
  readonly stale: readonly string[];
}

/** The target of a run. */
export interface ReportedTarget {
  readonly name: string | null;
  readonly address: string;
  /** The command or address of the new version, if one was given. */
  readonly next?: string;
  readonly method: string;
  readonly operation: string;
  readonly arguments: JsonObject;
}

/** The texts of a run for every format, and its checks in order. */
export function describeRun(report: Report) {
  const { summary, checks, seed } = report;
  const findings = FINDINGS.map((verdict) => ({ verdict, found: checksWith(checks, [verdict]) }));
  return {
    tally: `${summary.ran} of ${summary.checks} checks ran · ${summary.calls} requests · ${summary.seconds} s · seed ${seed}`,
    exit: exitWords(report),
    stale: summary.stale.map(
      (id) => `The baseline accepts ${id}, which is no longer found. Take it out of the baseline.`,
    ),
    caveats: caveatsOf(report),
    findings: findings.filter(({ found }) => found.length > 0),
    rest: checksWith(checks, [...UNDECIDED, 'pass']),
  };
}

export const titleOf = ({ method, operation }: ReportedTarget) => `${method} ${operation}`;

export const nameOfTarget = (target: ReportedTarget) => target.name ?? titleOf(target);

export const addressIn = ({ name, address, next }: ReportedTarget) =>
  `${name ?? address}${next === undefined ? '' : `, new version: ${next}`}`;

/** The report of one run. */
export interface Report {
  readonly profile: string;
  readonly target: ReportedTarget;
  readonly seed: number;
  readonly summary: Summary;
  readonly exitCode: 0 | 1 | 3;
  readonly checks: readonly ReportedCheck[];
}

/** How the program judges a run. */
export interface Judging {
  readonly name?: string | undefined;
  readonly strict?: boolean | undefined;
  readonly complete?: boolean | undefined;
  readonly baseline?: Baseline | undefined;
}

/** Makes the report of a run. Redacts all header values. */
export function reportOf(run: Run, judging: Judging = {}): Report {
  const { name = null, baseline = {} } = judging;
  const { inputs } = run;
  const { address, operation, seed } = inputs;
  const redact = redactor(address);
  const checks = run.checked.map((checked) => reportCheck(checked, inputs, baseline, redact));
  const isGone = ({ verdict }: ReportedCheck) => verdict === 'pass' || verdict === 'not-applicable';
  const stale = Object.keys(baseline).filter((id) => checks.some((one) => one.id === id && isGone(one)));
  return {
    profile: PROFILE,
    target: {
      name,
      address: redact(address.command?.join(' ') ?? address.url ?? ''),
      ...(address.next !== undefined && { next: redact(address.next) }),
      method: METHOD[operation.kind],
      operation: operation.name,
      arguments: redact(operation.arguments),
    },
    seed,
    summary: { ...counts(checks), calls: run.calls, seconds: Math.round(run.ms / 100) / 10, stale },
    exitCode: exitCodeOf(checks, judging, stale),
    checks,
  };
}

/**
 * Returns 1 if a check failed, a line of the baseline is stale, or with `strict` a check warned. Returns 3 if a check could
 * not decide, or lacked an input and either `complete` is set or no check ran. Otherwise returns 0.
 */
function exitCodeOf(
  checks: readonly ReportedCheck[],
  { strict, complete }: Judging,
  stale: readonly string[],
) {
  const has = (verdict: Verdict) => checks.some((one) => one.verdict === verdict && one.accepted === null);
  if (has('fail') || (strict && has('warn')) || stale.length > 0) return 1;
  const noneRan = checks.every(({ verdict }) => verdict === 'not-run' || verdict === 'not-applicable');
  return has('could-not-run') || ((complete || noneRan) && has('not-run')) ? 3 : 0;
}

/** The limit of an observation: a server may ask thousands of questions, and the text names each. */
const MAX_SEEN = 4000;

function reportCheck(
  { check, finding, calls }: CheckResult,
  inputs: CompleteInputs,
  baseline: Baseline,
  redact: Redact,
): ReportedCheck {
  const { id, family, level, expected, clause, remedy } = check;
  const { session, verdict } = finding;
  const found = isFault(finding);
  const acceptance = found ? baseline[id] : undefined;
  const isOver = acceptance !== undefined && isExpired(acceptance);
  const afterwords = isOver ? ` The baseline no longer accepts this: ${acceptanceText(acceptance)}.` : '';
  return {
    ...{ id, family, level, verdict, expected },
    actual: shorten(redact(finding.actual), MAX_SEEN) + afterwords,
    clause,
    remedy: finding.remedy || remedy,
    accepted: acceptance === undefined || isOver ? null : acceptanceText(acceptance),
    reproduce: redact(reproducing(inputs, idsOf(id, finding))),
    // A server that the checker started is gone when somebody reads this.
    curl: (found && !isStarted(inputs.address) && redact(curlOf(session?.turn, inputs.address))) || null,
    conversation: (found || verdict === 'could-not-run') && session ? transcriptOf(session, redact) : null,
    calls,
  };
}

/** The ids that reproduce a finding: the check, and the check that sent the request. Checks of the wire send the same requests. */
function idsOf(id: string, { session }: Finding) {
  const during = session?.during;
  return during === undefined || during.startsWith('wire.') ? id : `${during},${id}`;
}

function counts(checks: readonly ReportedCheck[]) {
  const counted = VERDICTS.map((verdict) => [verdict, checksWith(checks, [verdict]).length]);
  const each = Object.fromEntries(counted) as Record<Verdict, number>;
  return { ...each, ran: each.pass + each.fail + each.warn + each.advice, checks: checks.length };
}
