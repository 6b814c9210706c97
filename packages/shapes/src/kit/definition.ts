/** An error in a handler's definition that several shapes report. */
import { InvalidDefinition } from '@mrtr/core';

/** The error for a repeated key. Without it, the second step would silently not run. */
export const duplicateKeyError = (key: string, what: 'effect' | 'step' = 'effect'): InvalidDefinition =>
  new InvalidDefinition(`Two ${what}s of one call have the key '${key}'. They are kept by key: rename one.`);
