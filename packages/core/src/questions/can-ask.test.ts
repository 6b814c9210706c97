import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { McpServer as Unprotected } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { hostServers, hostTools, oldClient } from '../admission/hosted.test-support.ts';
import type { RequestStateOptions } from '../admission/policy.ts';
import { textResult } from '../results.ts';
import { speaksMrtr } from '../wire/call.ts';
import type { InputKind } from '../wire/input-kind.ts';
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

/** The envelope of a client of the new revision, which an old client may copy. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {} },
};
const user = () => ({ action: 'cancel' });
const ASKED: InputKind[] = ['elicitation'];

test.each<[string, RequestStateOptions, (() => { action: string }) | undefined, InputKind[], InputKind[]]>([
  ['on an open connection can be asked, by the shim and live', {}, user, ASKED, ASKED],
  ['can be asked live only, where the policy degrades it', { legacy: 'degrade' }, user, [], ASKED],
  ['that did not declare elicitation cannot be asked', {}, undefined, [], []],
])(
  'an old client %s, also with an envelope of the new revision',
  async (_what, options, answer, ...kinds) => {
    const facts: unknown[] = [];
    const client = await oldClient(hostTools(collecting(facts), options), answer);
    await client.callTool({ name: 'who' });
    await client.callTool({ name: 'who', _meta: ENVELOPE });
    expect(facts).toEqual(Array(2).fill({ speaksMrtr: false, canAsk: kinds[0], canAskLive: kinds[1] }));
  },
);

test('an old client on stateless serving cannot be asked', async () => {
  const facts: unknown[] = [];
  await hostTools(collecting(facts)).post('tools/call', { name: 'who' }, { legacy: true });
  expect(facts).toEqual([stranger]);
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
