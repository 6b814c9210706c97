/** What a server tells its own router about a token, and so everybody else who sees it. */
import type { Call } from '../call.ts';
import { InvalidLabel } from '../errors.ts';

// No `~`, which ends the sealed part, and nothing that a proxy, a log or a shell would take for more than a name.
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether a token can carry `text` as its routing label: 1 to 64 of `A–Z a–z 0–9 . _ -`, a letter or digit first. */
export const isRoutingLabel = (text: string): boolean => LABEL.test(text);

/**
 * The label itself, where a token can carry it.
 *
 * @throws InvalidLabel where it cannot.
 */
export function checkRoutingLabel(label: string): string {
  if (isRoutingLabel(label)) return label;
  // The text itself stays out of the message: what a handler throws may reach the client.
  throw new InvalidLabel(
    'A routing label is 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-", and begins with a letter or a ' +
      'digit. The one that was given is not.',
  );
}

/**
 * Has the state that this request returns end in `~label`, so that the server's own router can send the next
 * round where the label says. Whoever sees the token can read the label, and nobody can change it.
 *
 * @example
 * routeBy(callOf(ctx), 'i2'); // requestState: v1.…~i2
 *
 * @throws InvalidLabel for a label that a token cannot carry.
 */
export function routeBy(call: Call, label: string): void {
  call.routingLabel = checkRoutingLabel(label);
}
