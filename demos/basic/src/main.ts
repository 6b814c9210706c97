/** Calls the tool once, with a real client in the same process, and prints what goes over the wire. */
import { randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { MemoryLedger, requestStatePolicy } from '@mrtr/core';
import { createServer } from './server.ts';

// The server: a new instance for every request. They share the key that seals the state, and a ledger, so that a
// retry that is sent twice is served once.
const policy = requestStatePolicy({ keys: [randomBytes(32)], ledger: new MemoryLedger() });
const handler = createMcpHandler(() => createServer(policy));

// The client: it shows each question to its user and makes the retries by itself.
const client = new Client(
  { name: 'basic-client', version: '1.0.0' },
  { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: { form: {} } } },
);
client.setRequestHandler('elicitation/create', async ({ params }) => {
  console.log(`\n  The user reads "${params.message}" and says yes.\n`);
  return { action: 'accept', content: { confirm: true } };
});

// The wire: no socket, only the same bytes.
const transport = new StreamableHTTPClientTransport(new URL('http://in.process/mcp'), {
  fetch: async (url, init) => {
    const request = new Request(url, init);
    const sent = await request.clone().text();
    const response = await handler.fetch(request);
    if (sent.includes('"tools/call"')) {
      console.log(`client → ${abridge(sent)}`);
      console.log(`server ← ${abridge(await response.clone().text())}`);
    }
    return response;
  },
});

await client.connect(transport);
await client.callTool({ name: 'deploy', arguments: { env: 'production' } });
await client.close();
await handler.close();

/** One message without its envelope. Replaces the two long values with a description. */
function abridge(message: string): string {
  const { method, params, result } = JSON.parse(message, (key, value) => {
    if (key === '_meta') return undefined;
    if (key === 'requestedSchema') return '(a form)';
    return key === 'requestState' ? `(sealed, ${value.length} characters)` : value;
  });
  return JSON.stringify({ method, params, result });
}
