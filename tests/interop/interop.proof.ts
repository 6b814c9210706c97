/** What `pnpm interop` makes of what it observes. It is run by hand; this is not. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Options } from './options.ts';
import { callWithOurs } from './our-client.ts';
import { rowsOf } from './table.ts';
import { tapped } from './target.ts';
import { Wire } from './wire.ts';
import { isWell, observed } from './wording.ts';

const META = 'io.modelcontextprotocol/';
const modernCall = {
  method: 'tools/call',
  params: {
    _meta: { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: { elicitation: {} } },
  },
};
const initialize = (capabilities = {}) => ({
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities },
});

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
  expect(wireWith({ client: initialize() }, { server: agreed }, { client: modernCall }).revision).toBe(
    '2026-07-28',
  );
  expect(wireWith({ client: initialize() }, { server: agreed }, { client: legacyCall }).revision).toBe(
    '2025-06-18',
  );
  expect(wireWith({ client: initialize() }, { server: { error: {} } }).revision).toBe('2025-11-25, refused');
  expect(wireWith({ server: 'not a message' }).revision).toBe('none');
});

test('a question has arrived, or was sent, or could not be', () => {
  const asks = { result: { resultType: 'input_required', inputRequests: { units: {} } } };
  const asksOld = { method: 'elicitation/create', params: {} };
  const got = { asked: false, got: '22°C' };
  const question = (wire: Wire, asked = false) => observed({ ...got, asked }, wire).question;
  expect(question(wireWith({ client: modernCall }, { server: asks }), true)).toBe('arrived');
  expect(question(wireWith({ client: modernCall }, { server: asks }))).toBe('sent, not shown');
  expect(question(wireWith({ client: [initialize()] }, { server: asksOld }))).toBe('sent, not shown');
  expect(question(wireWith({ client: [initialize({ elicitation: {} })] }))).toBe('not sent');
  expect(question(wireWith({ client: initialize({ roots: {} }) }))).toBe('not declared');
});

test('only the answer and the default are well; an error is told in one line, without paths and ports', () => {
  const wire = new Wire();
  const seen = (report: object) => observed({ asked: true, ...report }, wire);
  expect(seen({ got: 'Weather in Tokyo: 72°F.' }).got).toBe('72°F, as answered');
  expect(isWell(seen({ got: 'Weather in Tokyo: 22°C.' }))).toBe(true);
  const failed = seen({ error: 'lost at 127.0.0.1:4711\n  in /a/b/c.js | d' });
  expect(failed.got).toBe('error: lost at 127.0.0.1 in … \\| d');
  expect(isWell(failed)).toBe(false);
  expect(seen({ error: 'HTTP 400: {"code":-32600,"message":"Already there."}' }).got).toBe(
    'error: Already there.',
  );
});

test('rows that are alike become one, which says where', () => {
  const at = (stdioE: string, httpE: string, stdioH: string, httpH: string) =>
    rowsOf([
      { option: 'E', transport: 'stdio', value: stdioE },
      { option: 'E', transport: 'HTTP', value: httpE },
      { option: 'H', transport: 'stdio', value: stdioH },
      { option: 'H', transport: 'HTTP', value: httpH },
    ]).map((row) => `${row.value} ${row.at}`);
  expect(at('a', 'a', 'a', 'a')).toEqual(['a E, H; stdio, HTTP']);
  expect(at('a', 'b', 'a', 'b')).toEqual(['a E, H; stdio', 'b E, H; HTTP']);
  expect(at('a', 'a', 'a', 'b')).toEqual(['a E, H stdio; E HTTP', 'b H; HTTP']);
});

test('a tap changes nothing and notes everything, on both transports', { timeout: 60_000 }, async () => {
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
