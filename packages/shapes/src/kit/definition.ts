/** Errors in a definition that several shapes report. */
import { InvalidDefinition } from '@mrtr/core';

/** A key comes twice in one entry. Without this error, the second step would silently not run. */
export const duplicateKeyError = (key: string, what: 'effect' | 'step' = 'effect'): InvalidDefinition =>
  new InvalidDefinition(`Two ${what}s of one call have the key '${key}'. They are kept by key: rename one.`);

/** A handler returned its own `requestState`. */
export const ownStateError = (shape: string, instead: string): InvalidDefinition =>
  new InvalidDefinition(
    `A ${shape} handler cannot return its own requestState: keep the value with ${instead}.`,
  );
