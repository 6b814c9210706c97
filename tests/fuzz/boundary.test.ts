/** The boundary, in process, against arbitrary requests. */
import { test } from 'vitest';
import { onlyWhatWasAnswered } from './answers.ts';
import { onlyItsUserFinishes } from './callbacks.ts';
import { casesOf, holds, told } from './cases.ts';
import { onlySealedLeaves } from './outbound.ts';
import { onlyOneIsServed } from './presentations.ts';
import { onlyWhatWasMinted } from './tokens.ts';

const MINUTES = 60_000;
/** Together nineteen of twenty. */
const [TOKENS, ANSWERS, PRESENTATIONS, OUTBOUND, PAGES] = [
  casesOf(0.6),
  casesOf(0.25),
  casesOf(0.05),
  casesOf(0.04),
  casesOf(0.01),
];

const PROPERTIES = [
  ['nothing is accepted that was not minted for exactly this call', TOKENS, onlyWhatWasMinted],
  ['no answer counts that does not fit the schema of its question', ANSWERS, onlyWhatWasAnswered],
  ['of any number of presentations of a single-use state, one is served', PRESENTATIONS, onlyOneIsServed],
  ['state leaves sealed, or not at all', OUTBOUND, onlySealedLeaves],
  ['a page counts for its own user, once, and in time', PAGES, onlyItsUserFinishes],
] as const;

for (const [what, cases, property] of PROPERTIES) {
  test(`${what} ${told(cases)}`, { timeout: 3 * MINUTES }, async () => {
    await holds<unknown>(property(), cases);
  });
}
