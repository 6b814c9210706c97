/** A process that parks two calls, reports which SDK contexts are still held (with `--expose-gc`), and ends. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { protectedServer, requestStatePolicy, type ServerContext, textResult } from '@mrtr/core';
import { z } from 'zod';
import { ContinuationStore, type LinearContext, linear } from './index.ts';

const collectGarbage = (globalThis as { gc?: () => void }).gc;
const Form = z.object({ name: z.string() });
const store = new ContinuationStore();
const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse: false });
const contexts = new Map<string, WeakRef<ServerContext>>();

const ask = async (ctx: LinearContext, held?: unknown) => {
  const { name } = await ctx.elicit('Which name?', Form);
  return textResult(`${name} ${held === undefined}`);
};

const handler = createMcpHandler(() => {
  const server = protectedServer({ name: 'parked-process', version: '0.0.0' }, policy);
  const careful = linear((_args: object, ctx) => ask(ctx), { store });
  server.registerTool('careful', { inputSchema: z.object({}) }, (args, ctx) => {
    if (!contexts.has('careful')) contexts.set('careful', new WeakRef(ctx));
    return careful(args, ctx);
  });
  // The control: this author keeps the SDK's context alive, and the process must detect that.
  server.registerTool('careless', { inputSchema: z.object({}) }, (args, ctx) => {
    contexts.set('careless', new WeakRef(ctx));
    return linear((_args: object, parked) => ask(parked, ctx), { store })(args, ctx);
  });
  return server;
});

const client = new Client(
  { name: 'parked-process-client', version: '0.0.0' },
  { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: {} } },
);
const fetch = (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init));
await client.connect(new StreamableHTTPClientTransport(new URL('http://parked.invalid/mcp'), { fetch }));
const call = (name: string) => client.callTool({ name, arguments: {} }, { allowInputRequired: true });
for (const name of ['careful', 'careless']) await call(name);

await client.close();
for (let turn = 0; turn < 10; turn++) {
  await new Promise(setImmediate);
  collectGarbage?.();
}
const held = [...contexts].filter(([, context]) => context.deref() !== undefined).map(([name]) => name);
process.on('exit', () => process.stdout.write(JSON.stringify({ parked: store.parked, held })));
