/** What `pnpm interop` makes of what it observes. It is run by hand; this is not. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Options } from './options.ts';
import { callWithOurs } from './our-client.ts';
import { tapped } from './target.ts';
import { Wire } from './wire.ts';
import { observed } from './wording.ts';

const META = 'io.modelcontextprotocol/';
const modernCall = {
  method: 'tools/call',
  params: {
    _meta: { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: { elicitation: {} } },
  },
};
const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {} },
};

/** A wire on which these passed, each a message from the client or the server. */
function wireWith(...messages: readonly { readonly client?: unknown; readonly server?: unknown }[]): Wire {
  const wire = new Wire();
  for (const { client, server } of messages) {
    if (client) wire.read('client', JSON.stringify(client));
    if (server) wire.read('server', `data: ${JSON.stringify(server)}`);
  }
  return wire;
}

test('the revision is the one of the call, else the one agreed on, else the one that was refused', () => {
  const agreed = { result: { protocolVersion: '2025-06-18' } };
  const legacyCall = { method: 'tools/call', params: {} };
  expect(wireWith({ client: initialize }, { server: agreed }, { client: modernCall }).revision).toBe(
    '2026-07-28',
  );
  expect(wireWith({ client: initialize }, { server: agreed }, { client: legacyCall }).revision).toBe(
    '2025-06-18',
  );
  expect(wireWith({ client: initialize }, { server: { error: {} } }).revision).toBe('2025-11-25, refused');
  expect(wireWith({ server: 'not a message' }).revision).toBe('none');
});

test('a tap changes nothing and notes everything, on both transports', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-interop-'));
  const options = new Options();
  onTestFinished(async () => {
    await options.close();
    await rm(folder, { recursive: true });
  });
  for (const [transport, client, revision] of [
    ['stdio', 'legacy', '2025-11-25'],
    ['HTTP', 'modern', '2026-07-28'],
  ] as const) {
    const { target, wire, close } = await tapped(await options.target('E', transport), folder);
    const report = await callWithOurs(client, target);
    const question = 'arrived';
    expect(observed(report, await wire())).toEqual({ revision, question, got: '72°F, as answered' });
    expect((await wire()).asks).toBe(true);
    await close();
  }
});
