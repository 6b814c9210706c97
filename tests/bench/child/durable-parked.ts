/**
 * Parks calls of H at their first question, and prints how much heap each takes; on PostgreSQL, also how much room it
 * takes there, at each stage of its life. Needs `--expose-gc`.
 */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { query } from '@mrtr/postgres-server';
import type { Footprint, ParkedCalls } from '../durable.ts';
import { answering, inProcess, opening, round, workItem } from '../subject/call.ts';
import { database, ON_POSTGRES } from '../subject/database.ts';
import { runningOn } from '../subject/durable.ts';
import { heapUsed } from './heap.ts';

const [id = '', count] = process.argv.slice(2);
const url = database();
const parked = Number(count);
let calls = parked / 2;
const AT_ONCE = 25;
const SCHEMA = 'mrtr_linear';
const CALLS = `${SCHEMA}.mrtr_calls`;

const { server, framesHeld } = await runningOn(id, true);
const exchange = inProcess(createMcpHandler(() => server()));

/** Does `work` for each call, some at a time. */
async function each<T>(work: (at: number) => Promise<T>): Promise<T[]> {
  const results = new Array<T>(calls);
  for (let from = 0; from < calls; from += AT_ONCE) {
    const length = Math.min(AT_ONCE, calls - from);
    const some = await Promise.all(Array.from({ length }, (_, at) => work(from + at)));
    for (const [at, result] of some.entries()) results[from + at] = result;
  }
  return results;
}

// All calls have the same arguments, since a token is bound to them.
const params = opening(workItem);

async function park(): Promise<string> {
  const asked = await round(exchange, workItem, params);
  return asked?.requestState ?? '';
}

/** The other rounds. */
async function finish(requestState: string): Promise<void> {
  let asked: Awaited<ReturnType<typeof round>> = { inputRequests: { resolution: {} }, requestState };
  while (asked) asked = await round(exchange, workItem, answering(workItem, params, asked));
}

/** The size of everything in the schema, also of the tables of DBOS. */
async function footprint(): Promise<Footprint> {
  const tables = await query<{ name: string; disk: string }>(
    url,
    `SELECT name, pg_total_relation_size(name::regclass) AS disk
     FROM (SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = $1) AS tables`,
    [SCHEMA],
  );
  const sum = { rows: 0, bytes: 0, disk: 0 };
  for (const { name, disk } of tables) {
    const [table] = await query<{ rows: string; bytes: string }>(
      url,
      `SELECT count(*) AS rows, coalesce(sum(pg_column_size(t.*)), 0) AS bytes FROM ${name} t`,
    );
    sum.rows += Number(table?.rows);
    sum.bytes += Number(table?.bytes);
    sum.disk += Number(disk);
  }
  const [written] = await query<{ log: string; commits: string }>(
    url,
    `SELECT pg_current_wal_lsn() - '0/0' AS log, pg_snapshot_xmax(pg_current_snapshot())::text AS commits`,
  );
  return { ...sum, log: Number(written?.log), commits: Number(written?.commits) };
}

/** Makes all calls expire, as if the time to keep their results had passed. */
async function sweep(): Promise<void> {
  await query(url, `UPDATE ${CALLS} SET expires_at = now() WHERE done`);
  while ((await query(url, `SELECT 1 FROM ${CALLS} LIMIT 1`)).length > 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Takes some calls through all stages; on PostgreSQL, measures their room there at each. */
async function lives(): Promise<ParkedCalls['stored']> {
  const stored = id === ON_POSTGRES;
  const empty = stored && (await footprint());
  const states = await each(park);
  const open = stored && (await footprint());
  await each((at) => finish(states[at] ?? ''));
  const finished = stored && (await footprint());
  if (!empty || !open || !finished) return undefined;
  await sweep();
  return { calls, empty, open, finished, swept: await footprint() };
}

// Warm up first, so that nothing is compiled for the first time during the measurement.
const stored = await lives();
calls = parked;
const before = await heapUsed();
const states = await each(park);
// This process keeps the tokens that clients would keep, as flat strings of equal length.
const keysBytes = (states[0]?.length ?? 0) + 16 + 8;
const heapEach = ((await heapUsed()) - before) / calls - keysBytes;
if (framesHeld?.() !== calls) throw new Error(`Of ${calls} calls ${framesHeld?.()} are parked.`);
const result: ParkedCalls = { heapEach, stored };
process.stdout.write(JSON.stringify(result), () => process.exit());
