/** The part of a token that the server's own router reads. Anyone else who sees the token can read it too. */
import { InvalidLabel } from '../support/errors.ts';

// No `~`, which ends the sealed part, and nothing that a proxy, a log or a shell could read as more than a name.
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether a token can carry `text` as its routing label: 1 to 64 of `A–Z a–z 0–9 . _ -`, a letter or digit first. */
export const isRoutingLabel = (text: string): boolean => LABEL.test(text);

/** The message leaves out the label's text: an error that a handler throws may reach the client. */
export const invalidLabelError = (): InvalidLabel =>
  new InvalidLabel(
    'A routing label has 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-", and begins with a letter or a ' +
      'digit. This one does not.',
  );
