/** What a client answers, before anybody reads it. */
import { canonicalJson } from './canonical-json.ts';

type Responses = Readonly<Record<string, unknown>>;

/**
 * The answers without a prototype of the client's making: the SDK collects them by assignment, so that a key
 * `__proto__` becomes the prototype of the others, where a careless read finds an answer that is not there.
 */
export const ownAnswers = <R extends Responses>(responses: R): R =>
  Object.fromEntries(Object.entries(responses)) as R;

/**
 * Whether each of the answers is JSON of at most `maxBytes`, nested no deeper than arguments may be. A number beyond all
 * (`1e999`) is none: kept in state, it would come back as null.
 */
export const answersFit = (responses: Responses | undefined, maxBytes: number): boolean =>
  Object.values(responses ?? {}).every((response) => {
    try {
      return Buffer.byteLength(canonicalJson(response)) <= maxBytes;
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) return false;
      throw error;
    }
  });
