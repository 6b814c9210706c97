/** Real servers, one for each shape, against whatever a client may post. */
import { option as e } from '@mrtr/option-e';
import { option as f } from '@mrtr/option-f';
import { option as g } from '@mrtr/option-g';
import { option as h } from '@mrtr/option-h';
import { option as i } from '@mrtr/option-i';
import { option as j } from '@mrtr/option-j';
import { test } from 'vitest';
import { casesOf, holds, told } from './cases.ts';
import { onlySoundReplies } from './posts.ts';
import { onlyWhatIsOwed } from './servers.ts';

const MINUTES = 60_000;
const OPTIONS = [e, f, g, h, i, j];
/** Together a twentieth of all: a case takes some four requests. */
const CASES = casesOf(0.04 / OPTIONS.length);
const POSTS = casesOf(0.01 / OPTIONS.length);

for (const option of OPTIONS) {
  test(`option ${option.id} does what it owes, or refuses, and tells nothing ${told(CASES)}`, {
    timeout: 3 * MINUTES,
  }, async () => {
    // E has nothing to pin an answer to: docs/security.md says so.
    await holds(onlyWhatIsOwed({ option, consumesUnasked: option.id === 'e' }), CASES);
  });
}

for (const option of OPTIONS) {
  test(`option ${option.id} answers whatever is posted, and stays well ${told(POSTS)}`, {
    timeout: 3 * MINUTES,
  }, async () => {
    await holds(onlySoundReplies(option), POSTS);
  });
}
