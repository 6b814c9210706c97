/** The calls that wait for their users. Their number is limited, since a client may never return. */

/** The ages that open questions are counted by, and the seconds below which they count there. */
export const AGES = { under_1m: 60, under_5m: 300, under_10m: 600, older: Number.POSITIVE_INFINITY } as const;
export type Age = keyof typeof AGES;

interface Waiting {
  readonly questions: number;
  readonly since: number;
}

/** Finds the open questions of this process. A call whose next round another instance serves stays until it expires. */
export class WaitingCalls {
  readonly #ttlMs: number;
  readonly #max: number;
  // In the order of asking, so the oldest come first.
  readonly #byId = new Map<string, Waiting>();

  constructor(ttlMs: number, max: number) {
    this.#ttlMs = ttlMs;
    this.#max = max;
  }

  /** The calls that wait now. */
  get size(): number {
    this.#forgetExpired();
    return this.#byId.size;
  }

  noteQuestions(call: string, questions: number): void {
    this.#byId.delete(call);
    this.#byId.set(call, { questions, since: Date.now() });
    if (this.#byId.size > this.#max) this.#byId.delete(this.#byId.keys().next().value as string);
  }

  /** The next round of the call has come, or the call has ended. */
  forget(call: string): void {
    this.#byId.delete(call);
  }

  /** The open questions, by age. */
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
