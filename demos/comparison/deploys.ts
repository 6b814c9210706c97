/** Claims about a deploy: a call whose code is replaced between two rounds. */

/**
 * The outcome of the call. `finishes`: no question is asked twice. `asks again`: an answer did not count. `rejects`:
 * the call ends with an error message, and no effect happens. `repeats`: it finishes, and an effect happened twice.
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
  'step-renamed': 'finishes',
  'step-moved': 'finishes',
  'step-removed': 'finishes',
  'step-added': 'finishes',
  'step-value': 'finishes',
  version: 'rejects',
} as const satisfies Readonly<Record<string, DeployClaim>>;

/** A change between two versions of a tool. */
export type Change = keyof typeof COMPARES_WORDS;

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
export const REFUSES_ALL = Object.fromEntries(
  Object.keys(COMPARES_WORDS).map((change) => [change, 'rejects']),
) as DeployClaims;
