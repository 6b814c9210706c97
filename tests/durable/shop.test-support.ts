export interface Wanted {
  readonly item: string;
  readonly effect: string;
  readonly key: string;
  readonly detail: string;
  readonly code: string;
}

const WHOLE = ['reserve', 'charge', 'ship'];

/** Performs the effects of all instances on one database, once per key, and outlives the instances. */
export class Shop {
  readonly #orders = new Map<string, Order>();

  of(item: string): Order {
    const order = this.#orders.get(item) ?? new Order();
    this.#orders.set(item, order);
    return order;
  }
}

export class Order {
  readonly #results = new Map<string, string>();
  readonly #held = new Map<string, () => void>();
  readonly #givesHeld: (() => void)[] = [];
  honoursKeys = true;
  readonly attempts: string[] = [];
  readonly done: string[] = [];
  readonly codes = new Set<string>();

  /** Delays the result of the next effect of this name. Resolves when the effect was performed. */
  hold(name: string): Promise<void> {
    return new Promise((resolve) => this.#held.set(name, resolve));
  }

  release(): void {
    for (const give of this.#givesHeld.splice(0)) give();
  }

  async perform({ effect, key, detail, code }: Wanted): Promise<string> {
    this.codes.add(code);
    this.attempts.push(effect);
    const known = this.honoursKeys ? this.#results.get(key) : undefined;
    if (known === undefined) this.done.push(`${effect} ${detail}`);
    const result = known ?? `${effect} #${this.done.length}`;
    this.#results.set(key, result);
    const performed = this.#held.get(effect);
    if (performed) {
      this.#held.delete(effect);
      performed();
      await new Promise<void>((give) => this.#givesHeld.push(give));
    }
    return result;
  }

  /** Faults of the order: a repeated, missing or misplaced effect, or two versions of the code. */
  faults(completed: boolean): string[] {
    const names = this.done.map((what) => what.split(' ')[0] ?? '');
    const expected = WHOLE.slice(0, completed ? WHOLE.length : names.length);
    return [
      ...(names.join() === expected.join() ? [] : [`did ${this.done.join(', ') || 'nothing'}`]),
      ...(this.codes.size > 1 ? [`was run by code ${[...this.codes].join(' and ')}`] : []),
    ];
  }
}
