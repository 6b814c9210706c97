/** Checks the answers of a client before a handler reads them. */
import { canonicalJson } from '../wire/canonical-json.ts';

type Responses = Readonly<Record<string, unknown>>;

/**
 * The answers to the questions that were asked, as a copy without the client's prototype. The SDK collects answers by
 * assignment, so an answer under `__proto__` becomes the prototype of the others, where a careless read finds it.
 *
 * @param asked the keys of the round before; undefined for answers to anything.
 */
export const ownAnswers = <R extends Responses>(
  responses: R,
  asked: ReadonlyMap<string, unknown> | undefined,
): R =>
  Object.fromEntries(Object.entries(responses).filter(([key]) => asked === undefined || asked.has(key))) as R;

/**
 * Whether each of the answers is JSON of at most `maxBytes`, nested no deeper than arguments may be. Rejects numbers
 * that overflow (`1e999`): state would bring them back as null.
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
