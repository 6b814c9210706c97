/** The README's first tool, started over stdio and called by clients of both eras. */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url));
const STARTED = { command: process.execPath, args: ['--import', 'tsx', SERVER] };
const INFO = { name: 'a-client', version: '1.0.0' };
const CAN_BE_ASKED = { capabilities: { elicitation: { form: {} } } };
const CALL = { name: 'deploy', arguments: { env: 'production' } };

const yes = (asked: string[]) => (message: string) => {
  asked.push(message);
  return { action: 'accept' as const, content: { yes: true } };
};

test('a new client is asked once, and its user’s yes deploys', { timeout: 30_000 }, async () => {
  const asked: string[] = [];
  const client = new Client(INFO, { ...CAN_BE_ASKED, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  client.setRequestHandler('elicitation/create', ({ params }) => yes(asked)(params.message));
  await client.connect(new StdioClientTransport(STARTED));
  onTestFinished(() => client.close());
  expect(await client.callTool(CALL)).toMatchObject({ content: [{ text: 'Deployed to production.' }] });
  expect(asked).toEqual(['Really deploy to production?']);
});

test('an old client is asked once too', { timeout: 30_000 }, async () => {
  const asked: string[] = [];
  const client = new OldClient(INFO, CAN_BE_ASKED);
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => yes(asked)(params.message));
  await client.connect(new OldTransport(STARTED));
  onTestFinished(() => client.close());
  expect(await client.callTool(CALL)).toMatchObject({ content: [{ text: 'Deployed to production.' }] });
  expect(asked).toEqual(['Really deploy to production?']);
});
