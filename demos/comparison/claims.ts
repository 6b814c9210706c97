/** What an option promises. The matrix measures each claim, and fails on a difference. */
import type { ToolName } from './index.ts';

/**
 * The time of `get_weather`'s audit entry. `after-answer`: once, after the user's answer. `before-asking`: once, before
 * the question. `every-entry`: each time the handler is entered.
 */
export type AuditClaim = 'after-answer' | 'before-asking' | 'every-entry';

/** The entries into the author's function: once a call, or once a round. */
export type EntryClaim = 'once' | 'every-round';

/** The claims of an option that keeps a whole call in sealed state, and nothing in a process. */
export const IN_STATE = {
  framesHeld: 0,
  otherInstance: 'finishes',
  restart: 'finishes',
  afterKill: 'finishes',
  forgeries: 'rejected',
} as const satisfies Partial<Claims['modern']>;

/** The claims of an option. The matrix measures all of them and fails on a difference. */
export interface Claims {
  /** With a client at 2026-07-28. */
  readonly modern: {
    /** Entries into the function that holds the effects: the handler, the end step or the body. */
    readonly entries: EntryClaim;
    readonly audit: AuditClaim;
    /** Length of each round's sealed `requestState`, 0 without one, for the answers metric and Duplicate of #4301. */
    readonly stateBytes: Readonly<Record<ToolName, readonly number[]>>;
    /** Frames held in memory while the user thinks. */
    readonly framesHeld: 0 | 1;
    /** The outcome when the next round reaches another instance, or the same one after a restart. */
    readonly otherInstance: 'finishes' | 'rejected';
    readonly restart: 'finishes' | 'rejected';
    /**
     * The outcome when the process is killed (SIGKILL) while the user thinks, and another one with the key gets the
     * retry.
     */
    readonly afterKill: 'finishes' | 'rejected';
    /** The result for a client that declared no elicitation. */
    readonly unaskable: 'default' | 'error';
    /** The treatment of an unasked answer, of another call's state, and of state sent twice. */
    readonly forgeries: 'rejected' | 'taken';
  };
  /** With a client at 2025-11-25. */
  readonly legacy: {
    readonly entries: EntryClaim;
    readonly audit: AuditClaim;
    /** On a held connection: `always` asked, or asked only if the policy is `shim`. */
    readonly asked: 'always' | 'by-policy';
    /** On stateless serving, where no old client can be asked. */
    readonly stateless: 'default' | 'error';
  };
  /** False if a question whose answer did not fit is asked again in the same words. Our boundary says why. */
  readonly saysWhy?: false;
  /** The outcomes of deploys between two rounds. Absent if nothing writes outlines in its shape. */
  readonly deploys?: DeployClaims;
  /** True if the official conformance suite runs on the option; otherwise the reason why it does not. */
  readonly conformance: true | string;
}

/**
 * The outcome of a call whose code is replaced between two rounds. `finishes`: no question is asked twice. `asks again`:
 * an answer did not count. `rejects`: the call ends with an error message, and no effect happens. `repeats`: it
 * finishes, and an effect happened twice.
 */
export type DeployOutcome = 'finishes' | 'asks again' | 'rejects' | 'repeats';

/** The outcomes while the question is open and after it was answered, or one for both. */
export type DeployClaim = DeployOutcome | readonly [asked: DeployOutcome, answered: DeployOutcome];

/** For shapes that keep each answer under its key, with its question's words. */
export const COMPARES_WORDS = {
  nothing: 'finishes',
  reworded: 'asks again',
  renamed: 'asks again',
  moved: 'finishes',
  removed: 'finishes',
  'added-before': 'finishes',
  'added-after': 'finishes',
  narrowed: 'asks again',
  widened: 'asks again',
  version: 'rejects',
  'step-renamed': 'finishes',
  'step-moved': 'finishes',
  'step-removed': 'finishes',
  'step-added': 'finishes',
  'step-value': 'finishes',
} as const satisfies Readonly<Record<string, DeployClaim>>;

/** A change between two versions of a tool. */
export type Change = keyof typeof COMPARES_WORDS;

/** Every change, those of a question first. */
export const CHANGE_NAMES = Object.keys(COMPARES_WORDS) as readonly Change[];

export type DeployClaims = Readonly<Record<Change, DeployClaim>>;

/** For shapes whose author keeps the answers: only the author's schema checks them. */
export const COMPARES_SCHEMA: DeployClaims = {
  ...COMPARES_WORDS,
  reworded: ['asks again', 'finishes'],
  moved: ['asks again', 'finishes'],
  'added-before': 'asks again',
  narrowed: ['asks again', 'rejects'],
  widened: ['asks again', 'finishes'],
};

/** For a handler in one process's memory: a new version does not have it. */
export const REJECTS_ALL = Object.fromEntries(
  CHANGE_NAMES.map((change) => [change, 'rejects']),
) as DeployClaims;
