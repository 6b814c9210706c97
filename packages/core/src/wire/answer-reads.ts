/**
 * Records how a handler reads this round's answers.
 *
 * A handler that asks under one key and reads another asks its user the same question for ever, without an error. So
 * the readers record each read, and the boundary finds the answers that did not count.
 */

import type { AnswerEvent } from '../diagnostics/events.ts';
import { isMisspelling } from '../options.ts';

/** How an answer was read. `missing`: no answer came. `reworded`: the question's words have changed since. */
export type AnswerRead = 'taken' | 'missing' | 'reworded' | 'invalid';

/** An answer that came, and does not fit its question. */
export interface UnfitAnswer {
  /** How many answers to the question did not fit, this one included. */
  readonly times: number;
  /** Why it does not fit, for the user: the next prompt ends with this. */
  readonly why: string;
  /** Why the question is not asked again, for the client. Undefined if it is. */
  readonly end: string | undefined;
  /** The names and the kinds of its form's fields, for the operator. Empty for a question without a form. */
  readonly fields: string;
}

/** The reads of one entry of a handler. */
export class AnswerReads {
  readonly #reads = new Map<string, AnswerRead>();
  /** The answers of this round that did not fit, by key. */
  readonly unfit = new Map<string, UnfitAnswer>();
  #complete = false;

  /** Declares that every read is recorded from now on, so an answer without a record is unread. */
  complete() {
    this.#complete = true;
  }

  /** @param unfit the answer, if it did not fit; also where the `fallback` was taken for it. */
  note(key: string, read: AnswerRead, unfit?: UnfitAnswer) {
    this.#reads.set(key, read);
    if (unfit) this.unfit.set(key, unfit);
  }

  /** The first question that is given up: its key, and its last answer. */
  get givenUp(): readonly [key: string, UnfitAnswer] | undefined {
    return [...this.unfit].find(([, { end }]) => end !== undefined);
  }

  /** The reason why the answer under `key` did not count. Undefined if it counted, or if the records cannot tell. */
  whyIgnored(key: string): Pick<AnswerEvent, 'reason' | 'didYouMean'> | undefined {
    const read = this.#reads.get(key);
    if (read === 'reworded' || read === 'invalid') return { reason: read };
    // A handler that reads with the SDK's own helpers leaves no records.
    if (read === 'taken' || !(this.#complete || this.#reads.size > 0)) return undefined;
    return { reason: 'unread', didYouMean: this.#nearest(key) };
  }

  #nearest(key: string) {
    const missing = [...this.#reads].filter(([, read]) => read === 'missing').map(([name]) => name);
    return missing.find((name) => isMisspelling(key, name));
  }
}
