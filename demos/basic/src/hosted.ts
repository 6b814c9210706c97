/** Hosts a tool over HTTP for clients of both eras, and calls it with a client. */
import { randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  MemoryLedger,
  protectedServer,
  requestStatePolicy,
  textResult,
} from '@mrtr/core';
import { serveHttp } from '@mrtr/hosting/http';
import { once } from '@mrtr/shapes/once';
import { z } from 'zod';

const inputSchema = z.object({ env: z.enum(['staging', 'production']) });
const sure = elicitation('Really deploy?', z.object({ sure: z.boolean().meta({ title: 'Deploy it' }) }));

// The tool, in shape F. An effect inside `once` runs in one round only, and for no client that cannot be asked.
const deploy = once(
  async ({ env }: z.infer<typeof inputSchema>, ctx) => {
    const ticket = await ctx.once('ticket', async () => `ticket 7 for ${env}`);
    const answer = ctx.answer('sure', sure);
    if (isRefusal(answer)) return cancelledResult('sure');
    if (answer.kind !== 'accepted') return ask({ sure });
    return textResult(answer.value.sure ? `Deployed, ${ticket}.` : `Left alone, ${ticket}.`);
  },
  { asks: ['elicitation'] },
);

// Made once, for all servers. The ledger serves a retry that is sent twice only once; several processes share one on
// Redis or PostgreSQL.
const policy = requestStatePolicy({
  keys: [process.env.STATE_KEY ?? randomBytes(32)],
  ledger: new MemoryLedger(),
});

// The server: a new one for each request or session.
const hosting = await serveHttp({
  server() {
    const server = protectedServer({ name: 'deployer', version: '1.0.0' }, policy);
    server.registerTool('deploy', { description: 'Deploys the latest build.', inputSchema }, deploy);
    return server;
  },
  async close() {}, // Close here what outlives requests, for example shape H's store.
});

// The client: speaks 2026-07-28 to servers that do, and 2025-11-25 to others. The SDK makes the rounds.
const client = new Client(
  { name: 'my-client', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } } },
);
client.setRequestHandler('elicitation/create', async ({ params }) => {
  console.log(`The user reads "${params.message}" and says yes.`);
  return { action: 'accept', content: { sure: true } };
});
await client.connect(new StreamableHTTPClientTransport(hosting.url));
const { content } = await client.callTool({ name: 'deploy', arguments: { env: 'staging' } });
console.log(content);
await client.close();
await hosting.close();
