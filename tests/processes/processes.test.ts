/** A shape that any instance resumes and one that waits in memory. `processes.proof.ts` has all. */

import { holdToClaims } from './claims.test-support.ts';

holdToClaims(['f', 'h']);
