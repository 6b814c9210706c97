/** The boundary, in process, against whatever a client may send. */
import { test } from 'vitest';
import { casesOf, holds, told } from './cases.ts';
import { onlyWhatWasMinted } from './tokens.ts';

const MINUTES = 60_000;
const TOKENS = casesOf(0.66);

test(
  `nothing is accepted that was not minted for exactly this call ${told(TOKENS)}`,
  { timeout: 3 * MINUTES },
  () => holds(onlyWhatWasMinted(), TOKENS),
);
