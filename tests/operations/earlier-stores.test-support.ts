/**
 * Stores of an earlier version, as a rolling deploy has them beside those of this one. Each runs the scripts and statements
 * that version ran, with its values. Both were recorded from it.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StoreFull } from '@mrtr/core';
import type { LeaseDecision, LeaseRequest, StateLedger } from '@mrtr/core/seal';
import type { Queryable } from '@mrtr/ledgers/postgres';
import type { RedisClient } from '@mrtr/ledgers/redis';
import type { InteractionStore } from '@mrtr/pages/store';

interface Command {
  /** The lines of a script of Redis. */
  readonly script: readonly string[];
  readonly keys: readonly string[];
  readonly arguments: readonly string[];
  /** The lines of a statement of PostgreSQL. */
  readonly text: readonly string[];
  readonly values: readonly unknown[];
}

type Recorded = Readonly<Record<'redis' | 'postgres', Readonly<Record<string, Command>>>>;
const FILE = new URL('./earlier-stores.json', import.meta.url);
const recorded: Recorded = JSON.parse(readFileSync(FILE, 'utf8'));

/** The values of the names in `<…>`. */
type Values = Readonly<Record<string, unknown>>;

/** Replaces each name. A part that is only a name becomes its value, which may be a number or null. */
function fill(part: unknown, values: Values): unknown {
  if (typeof part !== 'string') return part;
  const [, whole] = /^<([^>]+)>$/.exec(part) ?? [];
  if (whole !== undefined && whole in values) return values[whole];
  return part.replaceAll(/<(\w+)>/g, (text, name) => (name in values ? String(values[name]) : text));
}

const inMs = (seconds: number) => seconds * 1000;

/** @throws StoreFull for a store that is full. */
const throwFull = (): never => {
  throw new StoreFull('You have too many pages open. Finish one, or try again later.');
};

function commandsOn(client: RedisClient, prefix: string) {
  return (name: string, values: Values): Promise<unknown> => {
    const { script, keys, arguments: args } = recorded.redis[name] as Command;
    const texts = (parts: readonly unknown[]) => parts.map((part) => `${fill(part, { prefix, ...values })}`);
    return client.eval(script.join('\n'), { keys: texts(keys), arguments: texts(args) });
  };
}

/** A ledger of the earlier version on Redis. */
export async function earlierRedisLedger(client: RedisClient, prefix: string): Promise<StateLedger> {
  const run = commandsOn(client, prefix);
  let known: number | '' = Number(await run('begin', { known: '' }));
  return {
    async lease(request: LeaseRequest): Promise<LeaseDecision> {
      const lease = randomUUID();
      const times = { 'leaseSeconds in ms': inMs(request.leaseSeconds), known, lease };
      const pseudonym = request.pseudonym ?? '';
      const reply = await run('lease', { ...request, ...times, pseudonym });
      const [kind, text = '', answers = '', began = 0] = reply as [string, string?, string?, number?];
      known = Math.max(known || 0, began) || '';
      if (kind === 'all' || kind === 'own') return throwFull();
      if (kind === 'first') return { kind, lease };
      if (kind === 'settled') return { kind, result: text, answers };
      return kind === 'clock-differs' ? { kind, byMs: Number(text) } : { kind: kind as 'lost' };
    },
    settle: async (id, lease, result) => void (await run('settle', { id, lease, result })),
    release: async (id, lease) => void (await run('release', { id, lease })),
  };
}

/** Pending interactions of the earlier version on Redis. */
export function earlierRedisInteractions(client: RedisClient, prefix: string): InteractionStore {
  const run = commandsOn(client, prefix);
  return {
    async add(begun) {
      const reply = await run('add', { ...begun, 'ttlSeconds in ms': inMs(begun.ttlSeconds) });
      return reply === 'all' || reply === 'own' ? throwFull() : reply === 'added';
    },
    find: async (id) => ((await run('find', { id })) as string | null) ?? undefined,
    async replace(next, before, isOver) {
      const ends = { 'ttlSeconds in ms': inMs(next.ttlSeconds), index: isOver ? '4' : '3' };
      return (await run('replace', { ...next, before, after: next.value, ...ends })) === 1;
    },
  };
}

function statementsOn(db: Queryable, table: string) {
  return async (name: string, values: Values): Promise<Values[]> => {
    const { text, values: wanted } = recorded.postgres[name] as Command;
    const statement = fill(text.join('\n'), { table }) as string;
    // The driver sends undefined as null.
    const filled = wanted.map((value) => fill(value, values));
    const { rows } = filled.length === 0 ? await db.query(statement) : await db.query(statement, filled);
    return rows as Values[];
  };
}

/** A ledger of the earlier version on PostgreSQL. It never sweeps. */
export async function earlierPostgresLedger(db: Queryable, table: string): Promise<StateLedger> {
  const run = statementsOn(db, table);
  let known = 0;
  const begin = async () => {
    const raised = known > 0;
    await run('begin', { known, raised: raised ? 'raised' : '', 'raised by': raised ? 60 : 0 });
    const [stored] = await run('began', {});
    known = Math.max(known, Number(stored?.began));
  };
  await run('createLedger', {});
  await begin();
  return {
    async lease(request: LeaseRequest): Promise<LeaseDecision> {
      const { id, issuedAt, expiresAt, now } = request;
      const lease = randomUUID();
      let seen: Values;
      do [seen = {}] = await run('lease', { ...request, lease, known });
      while (seen.isOvertaken);
      if (seen.began === null || seen.isRaised) await begin();
      else known = Math.max(known, Number(seen.began));
      if (seen.isFirst) return { kind: 'first', lease };
      const byMs = now - Number(seen.now);
      if (Math.abs(byMs) > 60_000) return { kind: 'clock-differs', byMs };
      const [entry] = await run('reject', { id });
      const { result, answers } = (entry ?? {}) as { result?: string; answers: string };
      if (typeof result === 'string') return { kind: 'settled', result, answers };
      if (entry) return { kind: entry.leased ? 'in-flight' : 'lost' };
      if (Number(seen.now) >= expiresAt) return { kind: 'expired' };
      if (seen.began === null || issuedAt - Math.max(0, byMs) < Number(seen.began))
        return { kind: 'older-than-ledger' };
      return seen.hasRoom ? { kind: 'in-flight' } : throwFull();
    },
    settle: async (id, lease, result) => void (await run('settle', { id, lease, result })),
    release: async (id, lease) => void (await run('release', { id, lease })),
  };
}

/** Pending interactions of the earlier version on PostgreSQL. They are never swept. */
export async function earlierPostgresInteractions(db: Queryable, table: string): Promise<InteractionStore> {
  const run = statementsOn(db, table);
  await run('createInteractions', {});
  const find = async (id: string) => (await run('find', { id }))[0]?.value as string | undefined;
  return {
    async add(begun) {
      let added: Values;
      do [added = {}] = await run('add', { ...begun });
      while (added.isOvertaken);
      if (added.isNew) return true;
      return (await find(begun.id)) === undefined ? throwFull() : false;
    },
    find,
    async replace(next, before, isOver) {
      const rows = await run('replace', { ...next, before, after: next.value, isOver });
      return rows.length > 0;
    },
  };
}
