/** Turns findings into verdicts, and verdicts into the exit code. */
import type { Check, Finding, Verdict } from '../judging/check.ts';

const FALLBACK = {
  'not-applicable': 'not-applicable',
  'not-given': 'not-run',
  undecided: 'could-not-run',
} as const satisfies Record<string, Verdict>;

export function verdictOf({ level }: Pick<Check, 'level'>, finding: Finding): Verdict {
  if (finding.kind === 'held') return 'pass';
  if (finding.kind !== 'broken') return FALLBACK[finding.kind];
  if (finding.always) return 'fail';
  if (finding.allowed) return 'advice';
  if (level === 'M*') return finding.matters ? 'fail' : 'advice';
  return ({ M: 'fail', S: 'warn', A: 'advice' } as const)[level];
}

export interface Counted {
  readonly verdict: Verdict;
  readonly accepted?: boolean | undefined;
}

/**
 * Returns 1 if a check failed, a line of the baseline is stale, or with `strict` a check warned. Returns 3 if a check could
 * not decide, or lacked an input and either `complete` is set or no check ran. Otherwise returns 0.
 */
export function exitCodeOf(
  checks: readonly Counted[],
  { strict = false, complete = false, stale = 0 } = {},
): 0 | 1 | 3 {
  const has = (verdict: Verdict) => checks.some((one) => one.verdict === verdict && !one.accepted);
  if (has('fail') || (strict && has('warn')) || stale > 0) return 1;
  const noneRan = checks.every(({ verdict }) => verdict === 'not-run' || verdict === 'not-applicable');
  return has('could-not-run') || ((complete || noneRan) && has('not-run')) ? 3 : 0;
}
