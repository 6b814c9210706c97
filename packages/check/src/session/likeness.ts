/**
 * Compares an outcome with those of honest calls. Honest outcomes differ from each other in clocks, ids and counters, so
 * the words in which they differ do not count.
 */
export class Likeness {
  #words: (string | undefined)[] | undefined;
  #incomparable = false;

  add(text: string) {
    const words = split(text);
    if (!this.#words) this.#words = [...words];
    else if (words.length !== this.#words.length) this.#incomparable = true;
    else this.#words = this.#words.map((word, at) => (word === words[at] ? word : undefined));
  }

  /** Whether a text has half of the words that honest outcomes share. With fewer, it says something else. */
  isOfKind(text: string) {
    const words = new Set(split(text));
    const known = (this.#words ?? []).flatMap((one) => (one && /\p{L}/u.test(one) ? [one] : []));
    return 2 * known.filter((one) => words.has(one)).length >= known.length;
  }

  /** Undefined if honest outcomes differ too much to compare, or if none was recorded. */
  like(text: string) {
    const known = this.#words;
    if (!known || this.#incomparable) return undefined;
    const words = split(text);
    return words.length === known.length && known.every((one, at) => one === undefined || one === words[at]);
  }
}

const VOLATILE =
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{16,}\b/gi;

/** The rest of a longer text counts as one word. */
const MAX_CHARACTERS = 64 * 1024;

const split = (text: string) => {
  const words = text.slice(0, MAX_CHARACTERS).replace(VOLATILE, '<volatile>');
  return [...(words.match(/\d+|\p{L}+|[^\d\p{L}]/gu) ?? []), text.slice(MAX_CHARACTERS)];
};
