/** One option for each way of resuming a call, in processes. `processes.proof.ts` runs all of them. */

import { IN_MEMORY, oneForEachWay } from '../testkit/options.ts';
import { holdToClaims } from './claims.test-support.ts';
import { BRIEF_PLAYS } from './index.ts';

holdToClaims(oneForEachWay(IN_MEMORY), BRIEF_PLAYS);
