/** From what was seen to a verdict: the only place where one is made. */
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
 * 0 nothing failed; 1 something did (under `strict` also a `warn`, and a stale line of the baseline always);
 * 3 nothing failed, but a check could not decide, or under `complete` lacked an input, or none ran for want of one.
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
