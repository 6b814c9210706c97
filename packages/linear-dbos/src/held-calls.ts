/** The calls that run or wait in this process. */
import type { RunningCall } from './running-call.ts';

/** Calls by their ids, with the memory that their arguments hold. */
export class HeldCalls {
  readonly #calls = new Map<string, RunningCall>();
  #bytes = 0;

  get size(): number {
    return this.#calls.size;
  }

  /** The memory of all arguments, in bytes, estimated. */
  get bytes(): number {
    return this.#bytes;
  }

  get(id: string): RunningCall | undefined {
    return this.#calls.get(id);
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  values(): Iterable<RunningCall> {
    return this.#calls.values();
  }

  add(call: RunningCall): void {
    this.delete(call.id);
    this.#calls.set(call.id, call);
    this.#bytes += call.heldBytes;
  }

  delete(id: string): void {
    this.#bytes -= this.#calls.get(id)?.heldBytes ?? 0;
    this.#calls.delete(id);
  }
}
