/**
 * The promise of a question. It knows whether it has a reader, so an `await` that was forgotten is found before an
 * effect runs.
 *
 * It is a subclass, because `await` calls the `then` of a subclass only: it ignores an own `then` of a plain promise.
 * `await`, `Promise.all` and `return` call it in the next microtask. So an unread promise is certain only after all
 * microtasks have run.
 */
import { InvalidDefinition } from '@mrtr/core';

const NONE: readonly never[] = [];

type Executor<T> = ConstructorParameters<typeof Promise<T>>[0];

/**
 * The promise of a question, which notes its first reader. For a shape whose author awaits questions. Promises that are
 * derived from it are plain ones.
 *
 * @example
 * const asked: AnswerPromise<unknown>[] = [];
 * const ask = (key: string, question: Question) => {
 *   const answer = AnswerPromise.of(waitForAnswer(key, question), key);
 *   asked.push(answer);
 *   return answer;
 * };
 * const result = await handler(input, Object.assign(handlerContext(ctx), { ask }));
 * const unread = AnswerPromise.unreadError(asked);
 * if (unread) throw unread;
 */
export class AnswerPromise<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** The keys of its questions, as text. Undefined as soon as it has a reader. */
  #unread: string | undefined;

  /** @param keys the keys of its questions, as text. */
  constructor(executor: Executor<T>, keys: string) {
    super(executor);
    this.#unread = keys;
  }

  /** Makes one that settles as `answer` does. */
  static of<T>(answer: Promise<T>, keys: string): AnswerPromise<T> {
    const own = new AnswerPromise<T>((resolve, reject) => answer.then(resolve, reject), keys);
    handleRejection(own);
    return own;
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise.
  override then<A = T, B = never>(...readers: Parameters<Promise<T>['then']>): Promise<A | B> {
    this.#unread = undefined;
    return super.then(...readers) as Promise<A | B>;
  }

  /** Returns those of `asked` that have no reader. */
  static filterUnread(asked: readonly AnswerPromise<unknown>[]): readonly AnswerPromise<unknown>[] {
    const unread = asked.filter((answer) => answer.#unread !== undefined);
    return unread.length === 0 ? NONE : unread;
  }

  /** Returns those of `asked` that have no reader, and `answer`. */
  static add(asked: readonly AnswerPromise<unknown>[], answer: AnswerPromise<unknown>) {
    const unread = AnswerPromise.filterUnread(asked);
    // A spread would reserve room for more, in each parked frame.
    return unread.length === 0 ? [answer] : [...unread, answer];
  }

  /**
   * Returns the error for a question of `asked` without a reader, if there is one.
   *
   * @param effect the key of the effect that would run. Without it, the handler has returned.
   */
  static unreadError(
    asked: readonly AnswerPromise<unknown>[],
    effect?: string,
  ): InvalidDefinition | undefined {
    const [unread] = AnswerPromise.filterUnread(asked);
    if (!unread) return undefined;
    const [then, where] =
      effect === undefined
        ? ['the handler has returned', '']
        : [`the effect '${effect}' did not run`, ' before the effect, or ask it after the effect'];
    return new InvalidDefinition(
      `No code waits for the answer to the question '${unread.#unread}', so ${then}. Await the question${where}.`,
    );
  }
}

/**
 * Marks a promise's rejection as handled, and returns the promise. A handler may start two questions and await them one
 * by one. If the user declines both, it never awaits the second, and that unhandled rejection must not end the process.
 */
export function handleRejection<T>(answer: Promise<T>): Promise<T> {
  // Not `answer.catch`, which an `AnswerPromise` takes for a reader.
  Promise.prototype.then.call(answer, undefined, () => {});
  return answer;
}
