import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { McpServer as Unprotected } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { canAsk, canAskLive, type InputKind } from './can-ask.ts';
import { hosted, hostedBy, oldClient } from './hosted.test-support.ts';
import { textResult } from './results.ts';
import { negotiatedRevision, speaksMrtr } from './revision.ts';

const KINDS: readonly InputKind[] = ['elicitation', 'sampling', 'roots'];

/** What a handler is told of its client. */
const told = (ctx: ServerContext) => ({
  revision: negotiatedRevision(ctx),
  speaksMrtr: speaksMrtr(ctx),
  canAsk: KINDS.filter((kind) => canAsk(ctx, kind)),
  canAskLive: KINDS.filter((kind) => canAskLive(ctx, kind)),
});

const telling =
  (heard: unknown[]) =>
  (server: McpServer): void => {
    server.registerTool('who', {}, (ctx) => {
      heard.push(told(ctx));
      return textResult('');
    });
  };

const modern = { revision: '2026-07-28', speaksMrtr: true, canAskLive: [] };
const old = { revision: '2025-11-25', speaksMrtr: false };
const stranger = { revision: undefined, speaksMrtr: false, canAsk: [], canAskLive: [] };

test.each<[unknown, InputKind[]]>([
  [{ elicitation: {} }, ['elicitation']],
  [{ elicitation: { form: {} } }, ['elicitation']],
  [{ elicitation: { form: {}, url: {} } }, ['elicitation']],
  [{ elicitation: { url: {} } }, []],
  [{ sampling: {}, roots: {} }, ['sampling', 'roots']],
  [{ elicitation: {}, sampling: {}, roots: {} }, ['elicitation', 'sampling', 'roots']],
  [{}, []],
])('a client at 2026-07-28 that declares %j can be asked for %j', async (capabilities, kinds) => {
  const heard: unknown[] = [];
  await hosted(telling(heard)).post('tools/call', { name: 'who' }, { capabilities });
  expect(heard).toEqual([{ ...modern, canAsk: kinds }]);
});

test.each([[{ elicitation: null }], [{ elicitation: true }], [{ elicitation: 'form' }], [[]], [null]])(
  'a client at 2026-07-28 that declares nonsense (%j) does not get as far as the handler',
  async (capabilities) => {
    const heard: unknown[] = [];
    const reply = await hosted(telling(heard)).post('tools/call', { name: 'who' }, { capabilities });
    expect(reply.error?.code).toBe(-32602);
    expect(heard).toEqual([]);
  },
);

test('an old client on a connection of its own can be asked, by the shim and live', async () => {
  const heard: unknown[] = [];
  const client = await oldClient(hosted(telling(heard)), () => ({}));
  await client.callTool({ name: 'who' });
  expect(heard).toEqual([{ ...old, canAsk: ['elicitation'], canAskLive: ['elicitation'] }]);
});

test('where the policy degrades old clients, one can be asked live only', async () => {
  const heard: unknown[] = [];
  const client = await oldClient(hosted(telling(heard), { legacy: 'degrade' }), () => ({}));
  await client.callTool({ name: 'who' });
  expect(heard).toEqual([{ ...old, canAsk: [], canAskLive: ['elicitation'] }]);
});

test('an old client that did not declare elicitation cannot be asked at all', async () => {
  const heard: unknown[] = [];
  const client = await oldClient(hosted(telling(heard)));
  await client.callTool({ name: 'who' });
  expect(heard).toEqual([{ ...old, canAsk: [], canAskLive: [] }]);
});

test('an old client on stateless serving cannot be asked at all', async () => {
  const heard: unknown[] = [];
  await hosted(telling(heard)).post('tools/call', { name: 'who' }, { legacy: true });
  expect(heard).toEqual([stranger]);
});

test('an old client cannot talk itself into the new revision with an envelope', async () => {
  const heard: unknown[] = [];
  const client = await oldClient(hosted(telling(heard), { legacy: 'degrade' }));
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {} },
  };
  await client.callTool({ name: 'who', _meta });
  expect(heard).toEqual([{ ...old, canAsk: [], canAskLive: [] }]);
});

test('a server that is not protected believes the envelope, and never asks an old client', async () => {
  const heard: unknown[] = [];
  const host = hostedBy(() => {
    const server = new Unprotected({ name: 'plain', version: '1' });
    telling(heard)(server);
    return server;
  });
  await host.post('tools/call', { name: 'who' });
  await (await oldClient(host, () => ({}))).callTool({ name: 'who' });
  expect(heard).toEqual([{ ...modern, canAsk: ['elicitation'] }, stranger]);
});

test('revisions are compared as the dates they are', () => {
  const at = (revision: unknown) =>
    speaksMrtr({ mcpReq: { envelope: { 'io.modelcontextprotocol/protocolVersion': revision } } } as never);
  const revisions = [
    '2024-11-05',
    '2025-11-25',
    '2026-07-27',
    '2026-07-28',
    '2027-01-01',
    20260728,
    undefined,
  ];
  expect(revisions.filter(at)).toEqual(['2026-07-28', '2027-01-01']);
});
