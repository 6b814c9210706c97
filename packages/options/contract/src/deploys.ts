/** What an option claims of a call whose code is replaced by another version between two rounds. */

/**
 * What comes of the call. `finishes`: the user is asked nothing twice. `asks again`: an answer did not count. `refuses`:
 * it ends with an error message, and nothing happens. `repeats`: it finishes, and an effect happened twice.
 */
export type DeployOutcome = 'finishes' | 'asks again' | 'refuses' | 'repeats';

/** Of a call whose question is open and of one whose question was answered, or of both. */
export type DeployClaim = DeployOutcome | readonly [asked: DeployOutcome, answered: DeployOutcome];

/** The shapes that keep each answer with its question's words, under its key. */
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
  version: 'refuses',
} as const satisfies Readonly<Record<string, DeployClaim>>;

/** What was changed between two versions of a tool. */
export type Change = keyof typeof COMPARES_WORDS;

export type DeployClaims = Readonly<Record<Change, DeployClaim>>;

/** What the author keeps is compared with nothing but the author's schema. */
export const COMPARES_SCHEMA: DeployClaims = {
  ...COMPARES_WORDS,
  reworded: ['asks again', 'finishes'],
  moved: ['asks again', 'finishes'],
  'added-before': 'asks again',
  narrowed: ['asks again', 'refuses'],
  widened: ['asks again', 'finishes'],
};

/** The handler is in one process, and a new version has none of it. */
export const REFUSES_ALL = Object.fromEntries(
  Object.keys(COMPARES_WORDS).map((change) => [change, 'refuses']),
) as DeployClaims;
