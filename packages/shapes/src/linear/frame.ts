/**
 * One running handler of shape H, and its questions.
 *
 * Invariants:
 * 1. The handler is started once. A round only answers questions that it is waiting for.
 * 2. A round ends when the handler settles, or when it has asked and every microtask has run.
 * 3. Questions that are asked together have one promise. It settles once: when each answer fits, when the user
 *    says no to one of them (which takes the others back), or when the frame is aborted.
 * 4. After `abort` every open and every later question rejects, so `finally` blocks run.
 * 5. A frame holds nothing of the SDK's `ctx`: that would keep some 20 KB of a finished request alive.
 */
import {
  type Answer,
  ElicitationDeclined,
  type InputKind,
  type InputRequests,
  type InputResponses,
  InvalidDefinition,
  ownEntry,
  type Question,
  type Questions,
} from '@mrtr/core';

/** How a round of a frame ended. */
export type Turn =
  | { readonly kind: 'asked'; readonly requests: InputRequests }
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown };

/** Questions that were asked together: one promise for all of them. */
class Ask {
  readonly promise: Promise<Readonly<Record<string, unknown>>>;
  readonly answers: Record<string, unknown>;
  missing: number;
  resolve!: (answers: Readonly<Record<string, unknown>>) => void;
  reject!: (reason: unknown) => void;

  constructor(keys: readonly string[]) {
    this.answers = Object.fromEntries(keys.map((key) => [key, undefined]));
    this.missing = keys.length;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

interface OpenQuestion {
  readonly question: Question;
  readonly ask: Ask;
}

/**
 * Rejects in a later turn of the event loop, and not at once: a handler that asks again whatever happens would
 * starve everybody else.
 */
export const refused = (reason: unknown): Promise<never> =>
  new Promise((_resolve, reject) => setImmediate(reject, reason));

/** A handler that has been started and has not been forgotten. */
export class Frame {
  readonly #open = new Map<string, OpenQuestion>();
  #outcome: Exclude<Turn, { kind: 'asked' }> | undefined;
  #endRound: ((turn: Turn) => void) | undefined;
  #flushing = false;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  /** A digest of who is calling. */
  readonly principal: string | undefined;
  /** What the client of the latest round can be asked for. */
  askable: readonly InputKind[] = [];
  /** Settles, and never rejects, when the handler has. */
  settled: Promise<void> = Promise.resolve();

  constructor(principal: string | undefined) {
    this.principal = principal;
  }

  /** Starts the handler and runs its first round. */
  start(handler: () => unknown): Promise<Turn> {
    const turn = this.#round();
    this.settled = Promise.resolve()
      .then(handler)
      .then(
        (value) => this.#settle({ kind: 'returned', value }),
        (error: unknown) => this.#settle({ kind: 'threw', error }),
      );
    return turn;
  }

  /** Hands the handler the answers of a new round and runs it on. */
  resume(responses: InputResponses | Readonly<Record<string, unknown>> | undefined): Promise<Turn> {
    const turn = this.#round();
    for (const [key, open] of [...this.#open]) this.#answer(key, open, ownEntry(responses, key));
    if (this.#outcome) this.#finishRound(this.#outcome);
    else this.#flushSoon();
    return turn;
  }

  /** Asks; settles in a later round. A question that is refused takes the others of its ask back. */
  ask(questions: Questions): Promise<Readonly<Record<string, unknown>>> {
    if (this.#aborted) return refused(this.#aborted.reason);
    const keys = Object.keys(questions);
    const taken = keys.find((key) => this.#open.has(key));
    if (taken !== undefined)
      return Promise.reject(new InvalidDefinition(`Two open questions have the key '${taken}'.`));
    const ask = new Ask(keys);
    for (const [key, question] of Object.entries(questions)) this.#open.set(key, { question, ask });
    if (keys.length === 0) ask.resolve(ask.answers);
    this.#flushSoon();
    return ask.promise;
  }

  /** Whether a question is open under `key`. */
  isOpen(key: string): boolean {
    return this.#open.has(key);
  }

  /** Ends the frame from outside: its signal fires, and whatever it waits for rejects with `reason`. */
  abort(reason: unknown): void {
    if (this.#aborted || this.#outcome) return;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
    for (const { ask } of [...this.#open.values()]) this.#refuse(ask, reason);
  }

  /** Fires when the frame is aborted. Made when it is first looked at: most handlers never do. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    return this.#controller.signal;
  }

  #round(): Promise<Turn> {
    return new Promise((resolve) => {
      this.#endRound = resolve;
    });
  }

  #finishRound(turn: Turn): void {
    this.#endRound?.(turn);
    this.#endRound = undefined;
  }

  #settle(outcome: Exclude<Turn, { kind: 'asked' }>): void {
    this.#outcome = outcome;
    this.#open.clear();
    this.#finishRound(outcome);
  }

  #answer(key: string, { question, ask }: OpenQuestion, response: unknown): void {
    let answer: Answer<unknown>;
    try {
      answer = question.read(response);
    } catch (error) {
      // The schema itself failed. The handler gets to know it where it asked.
      this.#refuse(ask, error);
      return;
    }
    if (answer.kind === 'missing' || answer.kind === 'invalid') return;
    if (answer.kind === 'accepted') this.#accept(key, ask, answer.value);
    else this.#refuse(ask, new ElicitationDeclined(answer.kind === 'declined' ? 'decline' : 'cancel'));
  }

  #accept(key: string, ask: Ask, value: unknown): void {
    this.#open.delete(key);
    ask.answers[key] = value;
    ask.missing--;
    if (ask.missing === 0) ask.resolve(ask.answers);
  }

  #refuse(refusedAsk: Ask, reason: unknown): void {
    for (const [key, { ask }] of this.#open) if (ask === refusedAsk) this.#open.delete(key);
    refusedAsk.reject(reason);
  }

  // setImmediate and not a microtask: questions asked together by two branches that first await something
  // already there still go out as one round.
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      if (this.#open.size === 0 || !this.#endRound) return;
      const requests = Object.fromEntries(
        [...this.#open].map(([key, { question }]) => [key, question.request]),
      );
      this.#finishRound({ kind: 'asked', requests });
    });
  }
}
