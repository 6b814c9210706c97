/** The types of checks and findings, and their constructors. */
import { type Evident, Undecided } from '../session/session.ts';
import type { CheckContext } from './context.ts';

/** M is a MUST, S a SHOULD, A advice. `M*` is a MUST only if a fault changes the result or an effect. */
export type Level = 'M' | 'S' | 'A' | 'M*';

/** The result of a check. */
export type Verdict = (typeof VERDICTS)[number];
/** Worst first. */
export const FINDINGS = ['fail', 'warn', 'advice'] as const;
export const UNDECIDED = ['could-not-run', 'not-run', 'not-applicable'] as const;
export const VERDICTS = [...FINDINGS, ...UNDECIDED, 'pass'] as const;

/** The sentence of the specification or of a recommendation that a check tests, and its place. */
export interface Clause {
  readonly at: string;
  readonly words: string;
}

/** A condition of a check, on the server or on the inputs of the run. */
export type Need = AskedNeed | GivenNeed | `other-${'arguments' | 'tool' | 'method' | 'principal'}`;
type AskedNeed = 'question' | 'state' | 'form' | 'elicitation' | 'consent' | 'two-rounds' | 'two-questions';
type GivenNeed = 'effects' | 'second-instance' | 'restart' | 'next' | 'ttl' | 'http';

/** The observation of a check. {@link verdictOf} makes the verdict from it and the level. */
export interface Finding {
  readonly kind: 'broken' | 'pass' | (typeof UNDECIDED)[number];
  readonly actual: string;
  readonly session?: Evident | undefined;
  /** For `M*`: the result or the effects changed, so the MUST applies. */
  readonly matters?: boolean;
  /** A fail at every level. */
  readonly always?: boolean;
  /** Advice at every level, because the specification allows it. */
  readonly allowed?: boolean;
  /** Replaces the check's remedy, which this server has already. */
  readonly remedy?: string | undefined;
  /** The id of the other check whose request shows the fault. */
  readonly during?: string | undefined;
  /** This finding explains later control failures, so they do not turn it into "could not run". */
  readonly explains?: boolean;
}

/** One check. */
export interface Check {
  readonly id: string;
  readonly family: 'spec' | 'safety';
  readonly level: Level;
  /** The behaviour that the check expects of the server, as a sentence. */
  readonly expected: string;
  readonly clause: Clause;
  /** How the author of the server mends a fault. */
  readonly remedy: string;
  readonly needs: readonly Need[];
  /** The approximate number of calls, without the controls, for a tool that asks in `rounds` rounds. */
  readonly calls: (rounds: number) => number;
  /** @internal */
  readonly run: (context: CheckContext) => Promise<Finding>;
  /** @internal Judges the messages received so far, even if honest calls fail. Undefined if it finds no fault. */
  readonly judgeReceived?: (context: CheckContext) => Promise<Finding | undefined>;
}

/** The parts of a check without its id and level. Every check needs a question. Most make one call. */
export type CheckParts = Omit<Check, 'id' | 'family' | 'level' | 'needs' | 'calls'> &
  Partial<Pick<Check, 'needs' | 'calls'>>;

/** Makes a check. M and S checks cite the specification; A checks do not. */
export const defineCheck = (id: string, level: Level, { needs = [], ...parts }: CheckParts): Check => ({
  calls: (rounds) => rounds + 1,
  ...parts,
  id,
  level,
  family: level === 'A' ? 'safety' : 'spec',
  needs: ['question', ...needs.filter((need) => need !== 'question')],
});

const VERDICT_OF = { M: 'fail', S: 'warn', A: 'advice', 'M*': 'advice' } as const;

export function verdictOf(level: Level, { kind, always, allowed, matters }: Finding): Verdict {
  if (kind !== 'broken') return kind;
  if (always || (level === 'M*' && matters)) return 'fail';
  return allowed ? 'advice' : VERDICT_OF[level];
}

const findingOf =
  (kind: Finding['kind']) =>
  (actual: string, session?: Evident, how: Omit<Finding, 'kind' | 'actual' | 'session'> = {}): Finding => ({
    ...{ kind, actual, session },
    ...how,
  });

export const pass = findingOf('pass');
export const fail = findingOf('broken');
export const notApplicable = findingOf('not-applicable');
export const notGiven = findingOf('not-run');
export const abstain = findingOf('could-not-run');

export function abstainFor(error: unknown): Finding {
  if (error instanceof Undecided) return abstain(error.message, error.session);
  throw error;
}

/** The page of the specification that most checks cite. */
export const MRTR = '2026-07-28, basic/patterns/mrtr';
