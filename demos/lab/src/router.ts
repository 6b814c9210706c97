/** The way from a client to the instances of its server: in turn, or to the one that was chosen. */
import type { Fetch, Recorder } from '@mrtr/harness';

/** Routes the requests of one side. */
export class Router {
  /** Where the client believes its server to be. */
  readonly url = new URL('http://server.invalid/mcp');
  readonly #addresses = new Map<string, URL>();
  #turn = 0;

  add(id: string, url: URL): void {
    this.#addresses.set(id, url);
  }

  remove(id: string): void {
    this.#addresses.delete(id);
  }

  /** Sends requests on, and records who got them. Where `chosen` names no living instance, the next one gets it. */
  sender(recorder: Recorder, chosen: () => string | undefined): Fetch {
    return async (_url, init) => {
      const isMessage = init?.method === 'POST';
      // The rounds of a call take turns; what connects the client goes where the first of them will go.
      const id = this.#pick(chosen(), isMessage && String(init.body).includes('"method":"tools/call"'));
      const url = id === undefined ? undefined : this.#addresses.get(id);
      if (id === undefined || !url) throw new Error('The connection was refused: no instance is alive.');
      if (isMessage) recorder.recordRoute(id, String(init.body));
      return fetch(url, init);
    };
  }

  #pick(chosen: string | undefined, isRound: boolean): string | undefined {
    if (chosen !== undefined && this.#addresses.has(chosen)) return chosen;
    const ids = [...this.#addresses.keys()].sort();
    const id = ids[this.#turn % Math.max(1, ids.length)];
    if (isRound) this.#turn++;
    return id;
  }
}
