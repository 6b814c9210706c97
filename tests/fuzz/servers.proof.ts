/** A real server of every option, against arbitrary requests. */
import { test } from 'vitest';
import { IN_MEMORY } from '../testkit/options.ts';
import { CASES, holds, told } from './cases.ts';
import { onlyWhatIsOwed } from './servers.ts';

const MINUTES = 60_000;

// The SDK alone makes no such promise; the matrix measures what it accepts.
for (const option of IN_MEMORY.filter(({ claims }) => claims.modern.forgeries === 'refused')) {
  test(`option ${option.id} does what it owes, or refuses, and tells nothing ${told(CASES)}`, {
    timeout: 3 * MINUTES,
  }, async () => {
    await holds(onlyWhatIsOwed({ option }), CASES);
  });
}
