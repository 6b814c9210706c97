/** The limits on reading a probe. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { probeFrom } from './probe.ts';

/** Reads a probe at the address of a server that answers with `listener`. */
async function readFrom(listener: RequestListener, limitMs?: number): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return probeFrom(`url:http://127.0.0.1:${port}/`, '.', limitMs)();
}

test('follows no redirect, as it may lead to a service that only this machine can reach', async () => {
  const reached: (string | undefined)[] = [];
  const reading = readFrom((request, response) => {
    reached.push(request.url);
    response.writeHead(302, { location: '/secret' }).end();
  });
  await expect(reading).rejects.toThrow('HTTP 302, a redirect, which is not followed');
  expect(reached).toEqual(['/']);
});

test('stops at an answer that never ends', async () => {
  const reading = readFrom((_, response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  await expect(reading).rejects.toThrow('the probe could not be read: the answer is longer than 4 MiB');
});

test('does not wait for an address or a command that never answers', async () => {
  await expect(readFrom(() => {}, 100)).rejects.toThrow(/^the probe could not be read: .+ aborted/);
  const hangs = `cmd:'${process.execPath}' -e "setInterval(() => {}, 1000)"`;
  await expect(probeFrom(hangs, '.', 100)()).rejects.toThrow(/^the probe could not be read: .+ aborted/);
});

test('reads the text without the white space around it', async () => {
  expect(await readFrom((_, response) => response.end(' 3 paid\n'))).toBe('3 paid');
});
