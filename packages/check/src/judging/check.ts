/** What a check is, and what it may find. */
import type { CheckContext } from './context.ts';
import type { Evident } from './undecided.ts';

/** M a MUST, S a SHOULD, A advice; `M*` a MUST only where it matters. */
export type Level = 'M' | 'S' | 'A' | 'M*';

export type Verdict = (typeof VERDICTS)[number];
/** The gravest first. */
export const FINDINGS = ['fail', 'warn', 'advice'] as const;
export const UNDECIDED = ['could-not-run', 'not-run', 'not-applicable'] as const;
export const VERDICTS = [...FINDINGS, ...UNDECIDED, 'pass'] as const;

/** The place in the specification, or in a recommendation, that a check stands on, with its words. */
export interface Clause {
  readonly at: string;
  readonly words: string;
}

/** The conditions of a check: on the server, and on the user who runs it. */
export type Need = AskedNeed | GivenNeed | `other-${'arguments' | 'tool' | 'method' | 'principal'}`;
type AskedNeed = 'question' | 'state' | 'form' | 'elicitation' | 'consent' | 'two-rounds' | 'two-questions';
type GivenNeed = 'effects' | 'second-instance' | 'restart' | 'next' | 'ttl' | 'http';

/** What a check saw. The verdict follows from it and from the level, in `run/verdict.ts` alone. */
export type Finding =
  | { readonly kind: 'held'; readonly actual: string; readonly session?: Evident | undefined }
  | {
      readonly kind: 'broken';
      readonly actual: string;
      readonly session?: Evident | undefined;
      /** For `M*`: it changed the result or the effects, so that the MUST holds. */
      readonly matters?: boolean;
      /** A fail whatever the level. */
      readonly always?: boolean;
      /** Advice whatever the level: the specification does not forbid it. */
      readonly allowed?: boolean;
      /** What to do in place of the check's remedy, which this server does already. */
      readonly remedy?: string | undefined;
      /** The id of the check whose request shows it, if that is another check. */
      readonly during?: string | undefined;
      /** This finding explains later control failures, so they do not turn it into "could not run". */
      readonly explains?: boolean;
    }
  | { readonly kind: 'not-applicable' | 'not-given'; readonly actual: string }
  | { readonly kind: 'undecided'; readonly actual: string; readonly session?: Evident | undefined };

/** One check. */
export interface Check {
  readonly id: string;
  readonly family: 'spec' | 'safety';
  readonly level: Level;
  /** What is expected of the server, as a sentence. */
  readonly expected: string;
  readonly clause: Clause;
  /** What to do where it is broken, for the author of the server. */
  readonly remedy: string;
  readonly needs: readonly Need[];
  /** About how many calls it makes, beside its controls, with `rounds` questions one after another. */
  readonly calls: (rounds: number) => number;
  readonly run: (context: CheckContext) => Promise<Finding>;
  /** Judges what has come so far, also where honest calls fail. Undefined where nothing is wrong with it. */
  readonly judgeReceived?: (context: CheckContext) => Promise<Finding | undefined>;
}

/** What a check is made of, beside its id and its level. Every check needs a question. */
export type CheckParts = Omit<Check, 'id' | 'family' | 'level' | 'needs'> & Partial<Pick<Check, 'needs'>>;

/** Makes a check. M and S checks cite the specification; A checks do not. */
export const defineCheck = (id: string, level: Level, { needs = [], ...parts }: CheckParts): Check => ({
  ...parts,
  id,
  level,
  family: level === 'A' ? 'safety' : 'spec',
  needs: ['question', ...needs.filter((need) => need !== 'question')],
});

export const pass = (actual: string, session?: Evident): Finding => ({ kind: 'held', actual, session });

export const fail = (
  actual: string,
  session?: Evident,
  how: Omit<Extract<Finding, { kind: 'broken' }>, 'kind' | 'actual' | 'session'> = {},
): Finding => ({ kind: 'broken', actual, session, ...how });

export const notApplicable = (actual: string): Finding => ({ kind: 'not-applicable', actual });

export const notGiven = (actual: string): Finding => ({ kind: 'not-given', actual });

export const abstain = (actual: string, session?: Evident): Finding => ({
  kind: 'undecided',
  actual,
  session,
});

/** The pages of the specification that the checks stand on. */
export const MRTR = '2026-07-28, basic/patterns/mrtr';
