/** A shape that any instance resumes and one that waits in memory, in processes. `processes.proof.ts` runs all. */

import { holdToClaims } from './claims.test-support.ts';
import { BRIEF_PLAYS } from './index.ts';

holdToClaims([{ id: 'f' }, { id: 'h' }], BRIEF_PLAYS);
