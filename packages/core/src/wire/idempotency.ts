/** Keys for effects that are performed outside of this process. */
import { hash } from 'node:crypto';
import type { Call } from './call.ts';

/**
 * A key for the effect `name` of this call: the same in every round, on every instance, and for a round that is
 * presented again. Hand it to the service that performs the effect, so that it happens once even if this process
 * dies before it can record it. A first request that is sent again is another call, with other keys.
 */
export const idempotencyKey = ({ id }: Pick<Call, 'id'>, name: string): string =>
  hash('sha256', `${id} ${name}`, 'base64url').slice(0, 22);
