/**
 * One running handler of shape H, and its questions.
 *
 * Invariants:
 * 1. The handler is started once. A round only answers questions that it is waiting for.
 * 2. A round ends when the handler settles, or when it has asked and every microtask has run.
 * 3. An answered question's promise settles once; an open one stays open until its answer fits, the user says
 *    no, or the frame is aborted.
 * 4. After `abort` every open and every later question rejects, so `finally` blocks run.
 * 5. A frame holds nothing of the SDK's `ctx`: that would keep some 20 KB of a finished request alive.
 */
import {
  type Answer,
  type Elicitation,
  ElicitationDeclined,
  type InputKind,
  type InputRequests,
  type InputResponses,
  InvalidDefinition,
  interpret,
  ownEntry,
} from '@mrtr/core';

/** How a round of a frame ended. */
export type Turn =
  | { readonly kind: 'asked'; readonly requests: InputRequests }
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown };

interface OpenQuestion {
  readonly question: Elicitation;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

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
    for (const [key, open] of [...this.#open])
      this.#answer(key, open, interpret(ownEntry(responses, key), open.question));
    if (this.#outcome) this.#finishRound(this.#outcome);
    else this.#flushSoon();
    return turn;
  }

  /** Asks; settles in a later round. */
  ask(key: string, question: Elicitation): Promise<unknown> {
    if (this.#aborted) return Promise.reject(this.#aborted.reason);
    if (this.#open.has(key))
      return Promise.reject(new InvalidDefinition(`Two open questions have the key '${key}'.`));
    const answer = new Promise<unknown>((resolve, reject) =>
      this.#open.set(key, { question, resolve, reject }),
    );
    this.#flushSoon();
    return answer;
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
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { reject } of open) reject(reason);
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

  #answer(key: string, { resolve, reject }: OpenQuestion, answer: Answer<unknown>): void {
    if (answer.kind === 'missing' || answer.kind === 'invalid') return;
    this.#open.delete(key);
    if (answer.kind === 'accepted') resolve(answer.value);
    else reject(new ElicitationDeclined(answer.kind === 'declined' ? 'decline' : 'cancel'));
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
