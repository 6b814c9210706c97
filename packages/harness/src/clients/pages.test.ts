/** Questions by URL, as the SDK's own example asks them (its `examples/mrtr`), answered by this package's clients. */
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import schema from '../../transcript.schema.json' with { type: 'json' };
import { converse } from '../conversations/converse.ts';
import { host } from '../hosts/host.ts';
import { recordVisit } from '../recording/recorder.ts';
import { eventsOf, toMermaid } from '../transcript/index.ts';
import { scriptedUser, type User } from './user.ts';

const CONFIRM = {
  type: 'object' as const,
  properties: { confirm: { type: 'boolean' as const } },
  required: ['confirm'],
};
const codec = createRequestStateCodec<{ step: 'confirm' | 'signed-in' }>({ key: new Uint8Array(32).fill(7) });

function deployServer(): McpServer {
  const server = new McpServer(
    { name: 'mrtr-example-server', version: '1.0.0' },
    { capabilities: { tools: {} }, requestState: { verify: codec.verify } },
  );
  server.registerTool('deploy', { inputSchema: z.object({ env: z.string() }) }, async ({ env }, ctx) => {
    const { step = 'confirm' } = ctx.mcpReq.requestState<{ step: string }>() ?? {};
    const confirmed = acceptedContent<{ confirm: boolean }>(ctx.mcpReq.inputResponses, 'confirm');
    if (step === 'confirm' && !confirmed?.confirm) {
      const confirm = inputRequired.elicit({ message: `Deploy to ${env}?`, requestedSchema: CONFIRM });
      return inputRequired({
        inputRequests: { confirm },
        requestState: await codec.mint({ step: 'confirm' }),
      });
    }
    if (step === 'confirm') {
      const auth = inputRequired.elicitUrl({
        message: 'Sign in to continue',
        url: `https://example.com/auth?env=${env}`,
      });
      return inputRequired({
        inputRequests: { auth },
        requestState: await codec.mint({ step: 'signed-in' }),
      });
    }
    const auth = ctx.mcpReq.inputResponses?.auth as { action?: string } | undefined;
    const text = auth?.action === 'accept' ? `deployed to ${env}` : 'auth response missing or declined';
    return { isError: auth?.action !== 'accept', content: [{ type: 'text', text }] };
  });
  return server;
}

const deploy = (client: 'modern' | 'legacy', user: User) =>
  converse(
    { client, user, call: { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'prod' } } } },
    () => host('memory', () => ({ server: deployServer })),
  );

test.each(['modern', 'legacy'] as const)(
  'a %s client’s user opens the page that the example asks for',
  async (client) => {
    const opened: string[] = [];
    const open: User['open'] = ({ message, url }) => {
      opened.push(`${message} ${url}`);
      return { action: 'accept' };
    };
    const transcript = await deploy(client, scriptedUser({ confirm: [true] }, open));
    expect(opened).toEqual(['Sign in to continue https://example.com/auth?env=prod']);
    expect(transcript.end.result).toMatchObject({ content: [{ text: 'deployed to prod' }] });
    const [, page] = eventsOf('question', transcript.events);
    expect(page).toMatchObject({
      message: 'Sign in to continue',
      url: 'https://example.com/auth?env=prod',
      schema: {},
    });
    expect(toMermaid(transcript)).toContain('Sign in to continue" ↗ example.com/auth');
  },
);

test('the page of a question and the visits of a browser are in the transcript, and fit its schema', async () => {
  const open: User['open'] = ({ url }) => {
    recordVisit(url, 200);
    return { action: 'accept' };
  };
  const transcript = await deploy('modern', scriptedUser({ confirm: [true] }, open));
  const [visit] = eventsOf('visit', transcript.events);
  expect(visit).toMatchObject({ from: 'person', url: 'https://example.com/auth?env=prod', status: 200 });
  const validate = new Ajv2020({ strict: true, strictTypes: false }).compile(schema);
  expect(validate(JSON.parse(JSON.stringify(transcript))), JSON.stringify(validate.errors)).toBe(true);
  expect(toMermaid(transcript)).toContain('browser: example.com/auth → 200');
});

test('a user who may be silent can open pages as well', async () => {
  const user = scriptedUser({ confirm: ['silence', true] }, () => ({ action: 'accept' }));
  const { end } = await deploy('modern', user);
  expect(end.result).toMatchObject({ content: [{ text: 'deployed to prod' }] });
});
