/**
 * Serves one instance of an option over HTTP, for `pnpm check:options`. Instances share the keys, the ledger in PostgreSQL
 * and the folder of written items. The tools `audits` and `writes` count effects.
 *
 *   server.ts --option g --world DIR --postgres URL --port 3000 [--ttl SECONDS]
 */
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createWorld, type WorkItems } from '@mrtr/comparison';
import { findOption, type ListedOption, loadOption } from '@mrtr/comparison/options';
import { requestStatePolicy, textResult } from '@mrtr/core';
import { listVerifier, serveHttp } from '@mrtr/hosting/http';
import { PostgresLedger } from '@mrtr/ledgers/postgres';
import { Pool } from 'pg';
import { z } from 'zod';
import { KEY, PRINCIPALS } from './principals.ts';

const { values } = parseArgs({
  options: {
    option: { type: 'string', default: '' },
    world: { type: 'string', default: '' },
    postgres: { type: 'string', default: '' },
    port: { type: 'string', default: '0' },
    ttl: { type: 'string', default: '600' },
  },
});

mkdirSync(values.world, { recursive: true });
const counter = (name: string) => {
  const file = join(values.world, name);
  appendFileSync(file, '');
  return { add: () => appendFileSync(file, '\n'), count: () => readFileSync(file).length };
};
const counters = { audits: counter('audits'), writes: counter('writes') };

const listed = findOption(values.option) as ListedOption;
const option = await loadOption(listed);
const ledger = new PostgresLedger(new Pool({ connectionString: values.postgres, max: 4 }));
await ledger.createTable();
const policy = requestStatePolicy({
  keys: [KEY],
  ttlSeconds: Number(values.ttl),
  ledger,
});
const { items, ...rest } = createWorld({ onAudit: counters.audits.add, onWrite: counters.writes.add });

/** A third item, so that #4301 can be the original of another one. */
const THIRD = 4600;
const resolve: WorkItems['resolve'] = async (id, resolution, original) => {
  const resolved = await items.resolve(id === THIRD ? 4522 : id, resolution, original);
  return { ...resolved, id };
};

const world = { ...rest, items: { ...items, resolve } };
const running = option.create({ world, policy, postgres: values.postgres });

const served = {
  ...running,
  server() {
    const server = running.server();
    for (const [name, { count }] of Object.entries(counters))
      server.registerTool(
        name,
        { inputSchema: z.object({}), annotations: { readOnlyHint: true } },
        async () => textResult(String(count())),
      );
    return server;
  },
};

const verifier = listVerifier(PRINCIPALS.map(({ subject, token }) => `${subject}=${token}`).join());
const { url } = await serveHttp(served, { port: Number(values.port), verifier });
process.stderr.write(`listening at ${url}\n`);
