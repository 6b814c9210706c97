/** Routing labels: the part of a token that the server's own router reads. Everyone who sees the token can read it. */
import { InvalidLabel } from '../support/errors.ts';

// Excludes `~`, which ends the sealed part, and characters with a meaning for proxies, logs or shells.
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Whether a token can carry `text` as its routing label: 1 to 64 of `A–Z a–z 0–9 . _ -`, a letter or digit first. */
export const isRoutingLabel = (text: string): boolean => LABEL.test(text);

/** The error for an invalid label. Its message leaves out the label, because a handler's error may reach the client. */
export const invalidLabelError = (): InvalidLabel =>
  new InvalidLabel(
    'A routing label has 1 to 64 characters of A-Z, a-z, 0-9, ".", "_" and "-", and begins with a letter or a ' +
      'digit. This one does not.',
  );
