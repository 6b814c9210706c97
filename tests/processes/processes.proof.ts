/** Every option in processes. */
import { LISTED } from '../testkit/options-on-postgres.ts';
import { holdToClaims } from './claims.test-support.ts';

holdToClaims(LISTED);
