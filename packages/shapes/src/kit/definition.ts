/** The mistakes in a definition that several shapes find, in the same words. */
import { InvalidDefinition } from '@mrtr/core';

/** A key that comes twice in one entry. The second effect, or step of another kind, would silently not run. */
export const sameKey = (key: string, what: 'effect' | 'step' = 'effect'): InvalidDefinition =>
  new InvalidDefinition(`Two ${what}s of one call have the key '${key}'. They are kept by key: rename one.`);

/** A handler that returned `requestState` of its own. */
export const ownState = (shape: string, instead: string): InvalidDefinition =>
  new InvalidDefinition(`A ${shape} handler has no requestState of its own: keep the value with ${instead}.`);

/** A value that was asked and is not a question. */
export const notAQuestion = (key: string): InvalidDefinition =>
  new InvalidDefinition(
    `'${key}' is not a question. Make one with elicitation(...), sampling(...) or listRoots().`,
  );
