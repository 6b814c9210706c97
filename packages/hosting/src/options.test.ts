/** Invalid options of this package, as from JavaScript or an unset environment variable. */
import { InvalidOption, type McpServer, protectedServer, requestStatePolicy } from '@mrtr/core';
import { requestInit } from '@mrtr/harness/internal';
import { expect, onTestFinished, test, vi } from 'vitest';
import { INITIALIZE } from './hosting.test-support.ts';
import { serveHttp } from './http.ts';
import { serveOverStdio } from './stdio.ts';

const served = { server: (): McpServer => expect.unreachable() };

/** Serves for the length of a test. */
async function serve(options: unknown): Promise<void> {
  const http = await serveHttp(served, options as object);
  onTestFinished(() => http.close());
}

// The types demand a check for every option, and core tests the checks. Here is one of each kind.
test.each<[options: unknown, message: string]>([
  [null, 'the options must be an object; they are null.'],
  [{ allowedHost: ['a'] }, "there is no option 'allowedHost'. Did you mean 'allowedHosts'?"],
  [{ port: 'http' }, "port must be a whole number from 0 to 65535; it is 'http'."],
  [{ path: 'mcp' }, "path must be a path that begins with '/'; it is 'mcp'."],
  [{ allowedHosts: 'shop.example' }, "allowedHosts must be a list of host names, or 'any'; it is a text."],
  [{ allowedHosts: [undefined] }, "allowedHosts must be a list of host names, or 'any'; it is a list."],
  [{ allowedOrigins: 'https://a.example' }, 'allowedOrigins must be a list of origins; it is a text.'],
  [{ verifier: 'sk-123' }, 'verifier must be an object with verifyAccessToken(); it is a text.'],
  [{ pages: {} }, 'pages must be a list of pages, each an object with fetch(); it is an object.'],
  [{ pages: [{ path: '/a' }] }, 'pages must be a list of pages, each an object with fetch(); it is a list.'],
  [{ anonymous: true }, "anonymous must be 'accept' or 'reject'; it is true."],
  [{ maxSessions: 5 }, "the option 'maxSessions' is gone. Write `limits: { sessions }`."],
  [
    { maxRequests: 5 },
    "the option 'maxRequests' is gone. The policy counts requests: write `limits: { requests }` in requestStatePolicy.",
  ],
])('serveHttp(served, %j) is rejected: %s', async (options, message) => {
  await expect(serve(options)).rejects.toThrow(new InvalidOption(`serveHttp: ${message}`));
});

test.each<[limits: object, message: string]>([
  [{ subscriptions: -1 }, 'subscriptions must be a whole number of at least 0; it is -1.'],
  [{ session: 1 }, "there is no option 'session'. Did you mean 'sessions'?"],
  [{ perPrincipal: 2 }, 'perPrincipal must be a number above 0, and at most 1; it is 2.'],
  [
    { bytes: 1_048_576 },
    'one principal may take perPrincipal * bytes = 65536. That has no room for a request of bodyBytes + 65536. Raise ' +
      'bytes or perPrincipal, or lower bodyBytes.',
  ],
])('the limits %j are rejected: %s', async (limits, message) => {
  await expect(serve({ limits })).rejects.toThrow(new InvalidOption(`serveHttp limits: ${message}`));
});

test.each([
  'https://shop.example/',
  'shop.example:8443',
  'Shop.example',
  '*.shop.example',
  'shop.example/mcp',
  '::1',
  '',
])('the entry %j of allowedHosts can match no request, and is rejected at the start', async (entry) => {
  const error = await serve({ allowedHosts: ['localhost', entry] }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidOption);
  expect((error as Error).message).toContain(`allowedHosts: '${entry}' can match no request. Write the name`);
  expect((error as Error).message).toMatch(/: shop\.example, or \[::1\]\.$/);
});

test('names and addresses of hosts are allowed', async () => {
  await serve({ allowedHosts: ['shop.example', '127.0.0.1', '[::1]', 'xn--bcher-kva.example'] });
});

test('options that are undefined have their defaults', async () => {
  await serve({ port: undefined, verifier: undefined, legacyClients: undefined, limits: undefined });
});

test('without `onerror`, the first error of a kind is a warning of the process', async () => {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emitted.mockRestore());
  const server = () => {
    throw new Error('The database of the tools is gone.');
  };
  const http = await serveHttp({ server });
  onTestFinished(() => http.close());
  for (let time = 0; time < 2; time++)
    for (const init of [INITIALIZE, requestInit('tools/list')])
      expect((await fetch(http.url, init)).status).toBe(500);
  const warning = expect.stringMatching(/^The database of the tools is gone\./);
  expect(emitted.mock.calls).toEqual([[warning, { code: 'MRTR_ERROR' }]]);
});

test.each<[served: unknown, needs: string]>([
  [undefined, 'server(); it is undefined'],
  [() => {}, 'server(); it is a function'],
  [{}, 'server(); it is an object'],
  [{ ...served, close: 'later' }, 'server() and close(); it is an object'],
])('an instance that cannot be served, %j, is rejected', async (wrong, needs) => {
  const message = `served must be an object with ${needs}.`;
  await expect(serveHttp(wrong as never)).rejects.toThrow(new InvalidOption(`serveHttp: ${message}`));
  expect(() => serveOverStdio(wrong as never)).toThrow(new InvalidOption(`serveOverStdio: ${message}`));
});

test.each(['server', 'served'])(
  'a server in place of the function that makes one is rejected: as `%s`',
  async (place) => {
    const aServer = protectedServer({ name: 'one', version: '1.0.0' }, requestStatePolicy());
    const wrong = place === 'server' ? { server: aServer } : aServer;
    const message = 'give a function that makes a server, not a server: { server: createServer }.';
    await expect(serveHttp(wrong as never)).rejects.toThrow(`serveHttp: ${message}`);
    expect(() => serveOverStdio(wrong as never)).toThrow(`serveOverStdio: ${message}`);
  },
);

test('serveOverStdio rejects a function in the place of its options', () => {
  const message = 'serveOverStdio: the options must be an object; they are a function.';
  expect(() => serveOverStdio(served, (() => {}) as never)).toThrow(new InvalidOption(message));
});
