/** The processes that serve one conversation. Its rounds reach them in turn, or a chosen one. */
import { randomUUID } from 'node:crypto';
import type { Endpoint } from '@mrtr/harness';
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

/** @param chosen names the instance for the next request. Default: the next one in turn, also for one that has ended. */
export function processFleet<One extends Instance = InstanceProcess>(
  database: Database,
  context: Scope,
  chosen: () => string | undefined = () => undefined,
) {
  const { recorder } = context;
  const scope = randomUUID();
  const closeScope = database.open(scope, context);
  const members = new Map<string, Member<One>>();
  let turn = 0;
  let servedLast: One | undefined;

  const idsOfMembers = () => [...members.keys()].sort();

  async function release({ instance, onKill }: Member<One>) {
    instance.onKill.delete(onKill);
    await instance.close(scope);
  }

  function pick(isRound: boolean) {
    const alive = idsOfMembers().filter((id) => members.get(id)?.instance.alive);
    const wanted = chosen();
    if (wanted !== undefined && alive.includes(wanted)) return wanted;
    const id = alive[turn % Math.max(1, alive.length)];
    if (isRound) turn++;
    return id;
  }

  return {
    get instances(): readonly string[] {
      return idsOfMembers();
    },

    /**
     * Lets an instance serve under this id, through the function that `connect` makes. With `restart`, it replaces the
     * previous one, and the transcript shows it.
     */
    async open(
      id: string,
      instance: One,
      connect: (place: InstanceAddress) => Promise<Fetch>,
      restart?: { readonly deployed?: string },
    ) {
      const send = await connect({ scope, instance: id });
      const before = members.get(id);
      const onKill = () => recorder.record({ kind: 'kill', instance: id });
      instance.onKill.add(onKill);
      members.set(id, { instance, send, onKill });
      if (restart) recorder.record({ kind: 'restart', instance: id, ...restart });
      if (before) await release(before);
    },

    /** The process that served the latest message: the one to kill for this call. */
    servedLast: () => servedLast,

    endpoint: (): Endpoint & { readonly fetch: Fetch } => ({
      kind: 'http',
      url: ADDRESS,
      fetch: async (url, init) => {
        const isMessage = init?.method === 'POST';
        // The rounds of a call take turns. The requests that connect the client go to the instance of the first round.
        const id = pick(isMessage && String(init.body).includes('"method":"tools/call"'));
        const member = id === undefined ? undefined : members.get(id);
        if (id === undefined || !member) throw new Error('The connection was refused: no instance is alive.');
        if (isMessage) {
          recorder.recordRoute(id, String(init.body));
          servedLast = member.instance;
        }
        return member.send(url, init);
      },
    }),

    async framesHeld() {
      const held = await Promise.all([...members.values()].map(({ instance }) => instance.framesHeld(scope)));
      return held.reduce((sum, frames) => sum + frames, 0);
    },

    async close() {
      await Promise.all([...members.values()].map(release));
      closeScope();
    },
  };
}
