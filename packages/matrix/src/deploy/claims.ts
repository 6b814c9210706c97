/** What each shape claims of a call whose version is replaced between two rounds. The tests measure every claim. */
import { CHANGE_NAMES, type Change } from './code/changes.ts';
import type { Outcome } from './outcome.ts';
import type { Moment } from './play.ts';
import type { ShapeId } from './subject.ts';

/** Of both moments; or of a call whose size is asked, and of one whose size was answered. */
type Claim = Outcome | readonly [asked: Outcome, answered: Outcome];

/** What was changed in version 2. */
type Claims = Readonly<Record<Change, Claim>>;

const FINISHES = 'finishes';
const AGAIN = 'asks again';
const REFUSES = 'refuses';

/** The shapes that keep each answer with its question's words, under its key. */
const BY_WORDS: Claims = {
  nothing: FINISHES,
  reworded: AGAIN,
  renamed: AGAIN,
  moved: FINISHES,
  removed: FINISHES,
  'added-before': FINISHES,
  'added-after': FINISHES,
  narrowed: AGAIN,
  widened: AGAIN,
  'step-renamed': FINISHES,
  'step-moved': FINISHES,
  'step-removed': FINISHES,
  'step-added': FINISHES,
  'step-value': FINISHES,
  version: REFUSES,
};

const everything = (claim: Claim): Claims =>
  Object.fromEntries(CHANGE_NAMES.map((change) => [change, claim])) as Record<Change, Claim>;

/** What the author keeps is compared with nothing but the author's schema. */
const BY_SCHEMA: Claims = {
  ...BY_WORDS,
  reworded: [AGAIN, FINISHES],
  moved: [AGAIN, FINISHES],
  'added-before': AGAIN,
  narrowed: [AGAIN, REFUSES],
  widened: [AGAIN, FINISHES],
};

const CLAIMS: Readonly<Record<ShapeId, Claims>> = {
  a: BY_SCHEMA,
  // Its questions have no keys, so nothing renames them.
  b: { ...BY_WORDS, renamed: FINISHES },
  c: BY_SCHEMA,
  d: BY_SCHEMA,
  e: BY_SCHEMA,
  f: { ...BY_WORDS, 'step-renamed': REFUSES, 'step-value': REFUSES },
  g: { ...BY_WORDS, 'step-renamed': REFUSES, 'step-removed': REFUSES, 'step-value': REFUSES },
  h: everything(REFUSES),
  'h-postgres': { ...everything(REFUSES), nothing: FINISHES, 'added-after': FINISHES },
  i: BY_WORDS,
  j: {
    ...BY_WORDS,
    reworded: [AGAIN, REFUSES],
    renamed: [AGAIN, REFUSES],
    moved: [AGAIN, REFUSES],
    removed: [FINISHES, REFUSES],
    'added-before': [AGAIN, REFUSES],
    narrowed: [AGAIN, REFUSES],
    widened: [AGAIN, REFUSES],
    'step-renamed': REFUSES,
    'step-moved': [REFUSES, FINISHES],
    'step-removed': REFUSES,
    'step-added': [FINISHES, REFUSES],
    'step-value': REFUSES,
  },
};

/** The claim of one play. */
export function claimOf(shape: ShapeId, change: Change, moment: Moment): Outcome {
  const claim = CLAIMS[shape][change];
  return typeof claim === 'string' ? claim : claim[moment === 'asked' ? 0 : 1];
}
