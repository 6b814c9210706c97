/** The types of checks and findings, and their constructors. */
import { REVISION } from '@mrtr/harness/internal';
import { type Evident, Undecided } from '../session/session.ts';
import type { ReplyOutcome } from '../wire/outcome.ts';
import type { CheckContext } from './context.ts';

/** M is a MUST, S a SHOULD, A advice. A check of a MUST gives advice where the specification allows what it saw. */
export type Level = 'M' | 'S' | 'A';

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

/** The verdict of a check, and what it saw. */
export interface Finding {
  readonly verdict: Verdict;
  readonly actual: string;
  readonly session?: Evident | undefined;
  /** What to do, where the check's remedy is what this server does already. */
  readonly remedy?: string | undefined;
  /** It was seen, by an effect or in a message, and so holds even if the next honest call fails. Every `fail` holds. */
  readonly holds?: boolean;
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

type More = Pick<Finding, 'remedy' | 'holds'>;

const findingOf =
  (verdict: Verdict) =>
  (actual: string | ReplyOutcome, session?: Evident, more: More = {}): Finding => ({
    ...{ verdict, session, ...more },
    actual: `${actual}`,
  });

/** The server breaks a MUST, or what its author declared. */
export const fail = findingOf('fail');
/** The server breaks a SHOULD. */
export const warn = findingOf('warn');
/** The specification allows it, and its users would be safer without. */
export const advise = findingOf('advice');
export const pass = findingOf('pass');
export const notApplicable = findingOf('not-applicable');
export const notGiven = findingOf('not-run');
export const abstain = findingOf('could-not-run');

export const isFault = ({ verdict }: Pick<Finding, 'verdict'>) => FINDINGS.some((one) => one === verdict);

export function abstainFor(error: unknown): Finding {
  if (error instanceof Undecided) return abstain(error.message, error.session);
  throw error;
}

/** Recommends what no clause of a revision asks for. Default: the checked one. */
export const recommend = (about: string, words: string, revision = REVISION): Clause => ({
  at: `${revision} has no clause; ${about}`,
  words,
});

/** Cites a revision of the specification. Default: the checked one. */
export const cite = (at: string, words: string, revision = REVISION): Clause => ({
  at: `${revision}, ${at}`,
  words,
});
