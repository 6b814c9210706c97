/** Wire keys that combine two names. */

/**
 * The key of a step's or resolver's only question, or of its question `key`. A dot in a name is escaped: `a` asking
 * `b.c` and `a.b` asking `c` must not share a key, or an answer to one would count for both.
 */
export const wireKey = (name: string, key?: string) =>
  key === undefined ? escapePart(name) : `${escapePart(name)}.${escapePart(key)}`;

/** Whether `wire` is a key of the step or resolver `name`. */
export const isKeyOf = (name: string, wire: string) =>
  wire === escapePart(name) || wire.startsWith(`${escapePart(name)}.`);

const escapePart = (part: string) => part.replace(/[\\.]/g, (character) => `\\${character}`);
