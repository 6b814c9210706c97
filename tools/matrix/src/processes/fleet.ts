/** The processes that serve one conversation. Its rounds reach them in turn, or a chosen one. */
import { randomUUID } from 'node:crypto';
import type { Endpoint, Hosting } from '@mrtr/harness';
import type { Fetch } from '@mrtr/harness/internal';
import type { Database, Scope } from './database.ts';
import type { InstanceProcess } from './instance.ts';
import type { InstanceAddress } from './messages.ts';

/** The address that the client connects to. */
const ADDRESS = new URL('http://server.invalid/mcp');

/** A process that can serve conversations. */
export interface Instance {
  readonly alive: boolean;
  readonly onKill: Set<() => void>;
  /** Ends its part of a conversation. */
  close(scope: string): Promise<void>;
  framesHeld(scope: string): Promise<number>;
}

interface Member<One> {
  readonly instance: One;
  readonly send: Fetch;
  readonly onKill: () => void;
}

export class ProcessFleet<One extends Instance = InstanceProcess> implements Hosting {
  readonly #scope = randomUUID();
  readonly #context: Scope;
  readonly #chosen: () => string | undefined;
  readonly #over: () => void;
  readonly #members = new Map<string, Member<One>>();
  #turn = 0;
  #servedLast: One | undefined;

  /** @param chosen names the instance for the next request. Default: the next one in turn, also for one that has ended. */
  constructor(database: Database, context: Scope, chosen: () => string | undefined = () => undefined) {
    this.#context = context;
    this.#chosen = chosen;
    this.#over = database.open(this.#scope, context);
  }

  get instances(): readonly string[] {
    return [...this.#members.keys()].sort();
  }

  /**
   * Lets an instance serve under this id, through the function that `connect` makes. With `restart`, it replaces the
   * previous one, and the transcript shows it.
   */
  async open(
    id: string,
    instance: One,
    connect: (place: InstanceAddress) => Promise<Fetch>,
    restart?: { readonly deployed?: string },
  ): Promise<void> {
    const { recorder } = this.#context;
    const send = await connect({ scope: this.#scope, instance: id });
    const before = this.#members.get(id);
    const onKill = () => recorder.record({ kind: 'kill', instance: id });
    instance.onKill.add(onKill);
    this.#members.set(id, { instance, send, onKill });
    if (restart) recorder.record({ kind: 'restart', instance: id, ...restart });
    await this.#release(before);
  }

  /** The process that served the latest message: the one to kill for this call. */
  readonly servedLast = (): One | undefined => this.#servedLast;

  readonly endpoint = (): Endpoint & { readonly fetch: Fetch } => ({
    kind: 'http',
    url: ADDRESS,
    fetch: async (url, init) => {
      const isMessage = init?.method === 'POST';
      // The rounds of a call take turns. The requests that connect the client go to the instance of the first round.
      const id = this.#pick(isMessage && String(init.body).includes('"method":"tools/call"'));
      const { recorder } = this.#context;
      const member = id === undefined ? undefined : this.#members.get(id);
      if (id === undefined || !member) throw new Error('The connection was refused: no instance is alive.');
      if (isMessage) {
        recorder.recordRoute(id, String(init.body));
        this.#servedLast = member.instance;
      }
      return member.send(url, init);
    },
  });

  readonly framesHeld = async (): Promise<number> => {
    const held = [...this.#members.values()].map(({ instance }) => instance.framesHeld(this.#scope));
    return (await Promise.all(held)).reduce((sum, frames) => sum + frames, 0);
  };

  async leave(id: string): Promise<void> {
    const member = this.#members.get(id);
    this.#members.delete(id);
    await this.#release(member);
  }

  readonly close = async (): Promise<void> => {
    await Promise.all(this.instances.map((id) => this.leave(id)));
    this.#over();
  };

  async #release(member: Member<One> | undefined): Promise<void> {
    member?.instance.onKill.delete(member.onKill);
    await member?.instance.close(this.#scope);
  }

  #pick(isRound: boolean): string | undefined {
    const alive = this.instances.filter((id) => this.#members.get(id)?.instance.alive);
    const chosen = this.#chosen();
    if (chosen !== undefined && alive.includes(chosen)) return chosen;
    const id = alive[this.#turn % Math.max(1, alive.length)];
    if (isRound) this.#turn++;
    return id;
  }
}
