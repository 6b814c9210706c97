/** Every option in processes that are killed. */
import { LISTED } from '../testkit/options-on-postgres.ts';
import { holdToClaims } from './claims.test-support.ts';

holdToClaims(LISTED.map(({ id }) => id));
