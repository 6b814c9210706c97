/** One server under one policy: a tool on a `DbosStore`, and a tool of the author that pays. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import {
  approval,
  ask,
  protectedServer,
  type RequestStatePolicy,
  readAnswer,
  requestStatePolicy,
  textResult,
  words,
} from '@mrtr/core';
import { readPosted, requestInit } from '@mrtr/harness/internal';
import { PostgresLedger } from '@mrtr/ledgers/postgres';
import { DbosStore } from '@mrtr/linear-dbos';
import { postgresOfTheRun } from '@mrtr/postgres-server/testing';
import { linear } from '@mrtr/shapes/linear';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { z } from 'zod';

const keys = ['k'.repeat(32)];
const sure = approval(words`Pay ${'Ada'}?`, { approve: 'Pay', refuse: 'Do not pay' });
const inputResponses = { sure: { action: 'accept', content: { decision: 'approve' } } };

const { database, test } = await postgresOfTheRun();
let postgres: string;
let pool: Pool;
const stores: DbosStore[] = [];

beforeAll(async () => {
  postgres = await database();
  pool = new Pool({ connectionString: postgres, max: 2 });
  await new PostgresLedger(pool).createTable();
  const policy = requestStatePolicy({ keys, ledger: new PostgresLedger(pool) });
  for (let instance = 0; instance < 2; instance++)
    stores.push(await DbosStore.open({ postgres, policy, version: '1' }));
});
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await pool.end();
});

/** Two instances of the server. `effects` lists what both have done. */
function instancesOf(policy: RequestStatePolicy) {
  const effects: string[] = [];
  const instances = stores.map((store) => {
    const deploy = linear(
      async (_: object, ctx) => {
        const { receipt } = await ctx.ask('sure', sure);
        await ctx.once('deploy', () => void effects.push('deploy'));
        return textResult(`${receipt.tool}: ${receipt.words}`);
      },
      { store },
    );
    const handler = createMcpHandler(() => {
      const server = protectedServer({ name: 'shop', version: '1.0.0' }, policy);
      const inputSchema = z.object({});
      server.registerTool('deploy', { inputSchema }, deploy);
      server.registerTool('pay', { inputSchema }, async (_, ctx) => {
        const answer = readAnswer(ctx, 'sure', sure);
        if (answer.kind !== 'accepted') return ask({ sure });
        effects.push('pay');
        return textResult(`${answer.value.receipt.tool}: ${answer.value.receipt.words}`);
      });
      return server;
    });
    onTestFinished(() => handler.close());
    return async (params: Record<string, unknown>) => {
      const request = new Request('http://shop.invalid/mcp', requestInit('tools/call', params));
      return (await readPosted(await handler.fetch(request))).result;
    };
  });
  return { effects, instances };
}

test.each(['of the process, by default', 'that the instances share'])(
  'each effect happens once where each retry is sent twice to two instances, with the ledger %s',
  async (which) => {
    const ledger = which.startsWith('that') ? { ledger: new PostgresLedger(pool) } : {};
    const { effects, instances } = instancesOf(requestStatePolicy({ keys, ...ledger }));
    for (const name of ['deploy', 'pay']) {
      const asked = await instances[0]?.({ name, arguments: {} });
      expect(asked?.resultType).toBe('input_required');
      const retry = { name, arguments: {}, requestState: asked?.requestState, inputResponses };
      const send = () => instances.map((send) => send(retry));
      const results = [...(await Promise.all(send())), ...(await Promise.all(send()))];
      expect(results).toHaveLength(4);
      for (const result of results) expect(result).toMatchObject(textResult(`${name}: Pay “Ada”?`));
    }
    expect(effects).toEqual(['deploy', 'pay']);
  },
);
