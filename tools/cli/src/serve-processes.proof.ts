/** Endings and warnings of `pnpm serve` in a process of its own. `serve.test.ts` has the common cases. */
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, test } from 'vitest';
import { listening, old, start, TOKYO } from './serve.test-support.ts';

describe.concurrent('pnpm serve', () => {
  test('with a key, it warns only of a missing ledger; a second signal does not wait for a call', async () => {
    const { running, url } = await listening('f --state-key-env KEY', { KEY: 'k'.repeat(32) });
    let ask = () => {};
    const asked = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const user = await old(new OldHttpTransport(url) as Transport, () => {
      ask();
      return new Promise(() => {});
    });
    const cut = user.callTool(TOKYO).catch(() => 'cut');
    await asked;
    running.child.kill('SIGINT');
    await waitForRefusal(url);
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(running.output.err.match(/\[MRTR_\w+\]/g)).toEqual(['[MRTR_OWN_LEDGER]']);
    await user.close();
    expect(await cut).toBe('cut');
  });

  test('it ends with the end of stdin', async () => {
    const running = start('option-a');
    running.child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\nnot json\n');
    expect(await running.ended).toBe(0);
    for (const line of running.output.out.split('\n').filter(Boolean))
      expect(JSON.parse(line).jsonrpc).toBe('2.0');
  });

  test('a signal ends it over stdio', async () => {
    const running = start('option-a');
    running.child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    await new Promise((resolve) => running.child.stdout?.once('data', resolve));
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(0);
    expect(running.output.err).toBe('');
  });
});

/** Resolves when nothing listens at `url` any more. */
async function waitForRefusal(url: URL): Promise<void> {
  const up = () => fetch(new URL('/healthz', url), { headers: { connection: 'close' } });
  for (;;) {
    const gone = await up().then(
      () => false,
      () => true,
    );
    if (gone) return;
  }
}
