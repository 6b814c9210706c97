/** The ages of open questions, each with its upper bound in seconds. */
export const AGES = { under_1m: 60, under_5m: 300, under_10m: 600, older: Number.POSITIVE_INFINITY } as const;
export type Age = keyof typeof AGES;

interface Waiting {
  readonly questions: number;
  readonly since: number;
}

/**
 * The calls of this process that wait for their users. If another instance serves the next round, a call stays until it
 * expires. Their number is limited: a client may never return.
 */
export class WaitingCalls {
  readonly #ttlMs: number;
  readonly #max: number;
  // The oldest first.
  readonly #byId = new Map<string, Waiting>();

  constructor(ttlMs: number, max: number) {
    this.#ttlMs = ttlMs;
    this.#max = max;
  }

  get size(): number {
    this.#forgetExpired();
    return this.#byId.size;
  }

  noteQuestions(call: string, questions: number): void {
    this.#byId.delete(call);
    this.#byId.set(call, { questions, since: Date.now() });
    if (this.#byId.size > this.#max) this.#byId.delete(this.#byId.keys().next().value as string);
  }

  /** Forgets a call, whose next round has come, or which has ended. */
  forget(call: string): void {
    this.#byId.delete(call);
  }

  /** Counts the open questions by age. */
  questions(): Readonly<Record<Age, number>> {
    this.#forgetExpired();
    const counts: Record<Age, number> = { under_1m: 0, under_5m: 0, under_10m: 0, older: 0 };
    const now = Date.now();
    for (const { questions, since } of this.#byId.values()) {
      const [age] = Object.entries(AGES).find(([, below]) => now - since < below * 1000) ?? ['older'];
      counts[age as Age] += questions;
    }
    return counts;
  }

  #forgetExpired(): void {
    const before = Date.now() - this.#ttlMs;
    for (const [id, { since }] of this.#byId) {
      if (since > before) return;
      this.#byId.delete(id);
    }
  }
}
