/** A shape that any instance resumes and one that waits in memory, in processes. `processes.proof.ts` runs all. */

import { BRIEF_PLAYS } from '@mrtr/matrix/processes';
import { holdToClaims } from './claims.test-support.ts';

holdToClaims([{ id: 'f' }, { id: 'h' }], BRIEF_PLAYS);
