/** Every option × client × hosting × user × legacy policy. */
import { holdToClaims } from './claims.test-support.ts';

holdToClaims('all');
