import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { McpServer as Unprotected } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { hostServers, hostTools, oldClient } from '../admission/hosted.test-support.ts';
import type { InputKind } from '../wire/input-kind.ts';
import { textResult } from '../wire/results.ts';
import { speaksMrtr } from '../wire/revision.ts';
import { canAsk, canAskLive } from './can-ask.ts';

const KINDS: readonly InputKind[] = ['elicitation', 'sampling', 'roots'];

/** The facts about a client that a handler can learn. */
const factsOf = (ctx: ServerContext) => ({
  speaksMrtr: speaksMrtr(ctx),
  canAsk: KINDS.filter((kind) => canAsk(ctx, kind)),
  canAskLive: KINDS.filter((kind) => canAskLive(ctx, kind)),
});

/** Registers a tool that collects those facts. */
const collecting =
  (facts: unknown[]) =>
  (server: McpServer): void => {
    server.registerTool('who', {}, (ctx) => {
      facts.push(factsOf(ctx));
      return textResult('');
    });
  };

const modern = { speaksMrtr: true, canAskLive: [] };
const old = { speaksMrtr: false };
const stranger = { speaksMrtr: false, canAsk: [], canAskLive: [] };

test.each<[unknown, InputKind[]]>([
  [{ elicitation: {} }, ['elicitation']],
  [{ elicitation: { form: {} } }, ['elicitation']],
  [{ elicitation: { form: {}, url: {} } }, ['elicitation']],
  [{ elicitation: { url: {} } }, []],
  [{ sampling: {}, roots: {} }, ['sampling', 'roots']],
  [{ elicitation: {}, sampling: {}, roots: {} }, ['elicitation', 'sampling', 'roots']],
  [{}, []],
])('a client at 2026-07-28 that declares %j can be asked for %j', async (capabilities, kinds) => {
  const facts: unknown[] = [];
  await hostTools(collecting(facts)).post('tools/call', { name: 'who' }, { capabilities });
  expect(facts).toEqual([{ ...modern, canAsk: kinds }]);
});

test.each([[{ elicitation: null }], [{ elicitation: true }], [{ elicitation: 'form' }], [[]], [null]])(
  'a request at 2026-07-28 that declares nonsense (%j) does not reach the handler',
  async (capabilities) => {
    const facts: unknown[] = [];
    const reply = await hostTools(collecting(facts)).post('tools/call', { name: 'who' }, { capabilities });
    expect(reply.error?.code).toBe(-32602);
    expect(facts).toEqual([]);
  },
);

test('an old client on an open connection can be asked, by the shim and live', async () => {
  const facts: unknown[] = [];
  const client = await oldClient(hostTools(collecting(facts)), () => ({}));
  await client.callTool({ name: 'who' });
  expect(facts).toEqual([{ ...old, canAsk: ['elicitation'], canAskLive: ['elicitation'] }]);
});

test('where the policy degrades old clients, they can be asked live only', async () => {
  const facts: unknown[] = [];
  const client = await oldClient(hostTools(collecting(facts), { legacy: 'degrade' }), () => ({}));
  await client.callTool({ name: 'who' });
  expect(facts).toEqual([{ ...old, canAsk: [], canAskLive: ['elicitation'] }]);
});

test('an old client that did not declare elicitation cannot be asked', async () => {
  const facts: unknown[] = [];
  const client = await oldClient(hostTools(collecting(facts)));
  await client.callTool({ name: 'who' });
  expect(facts).toEqual([{ ...old, canAsk: [], canAskLive: [] }]);
});

test('an old client on stateless serving cannot be asked', async () => {
  const facts: unknown[] = [];
  await hostTools(collecting(facts)).post('tools/call', { name: 'who' }, { legacy: true });
  expect(facts).toEqual([stranger]);
});

test('an old client that sends an envelope of the new revision stays an old client', async () => {
  const facts: unknown[] = [];
  const client = await oldClient(hostTools(collecting(facts), { legacy: 'degrade' }));
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {} },
  };
  await client.callTool({ name: 'who', _meta });
  expect(facts).toEqual([{ ...old, canAsk: [], canAskLive: [] }]);
});

test('an unprotected server believes the envelope, and asks no old client', async () => {
  const facts: unknown[] = [];
  const host = hostServers(() => {
    const server = new Unprotected({ name: 'plain', version: '1' });
    collecting(facts)(server);
    return server;
  });
  await host.post('tools/call', { name: 'who' });
  await (await oldClient(host, () => ({}))).callTool({ name: 'who' });
  expect(facts).toEqual([{ ...modern, canAsk: ['elicitation'] }, stranger]);
});

test('revisions compare as dates', () => {
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
