import type { AuthInfo } from '@modelcontextprotocol/server';
import { observe } from '@mrtr/core/events';
import { processWide } from '@mrtr/core/internal';
import { callerNamed } from '@mrtr/harness';
import { requestInit } from '@mrtr/harness/internal';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hosting, INITIALIZE, mounting, oldRequest, withHeaders } from './hosting.test-support.ts';
import type { MountOptions } from './options.ts';

const LIST = requestInit('tools/list');
const SIGNED = { authorization: 'Bearer token-of-ada' };

/** The warnings of a process that has not warned before. */
function watchWarnings(): readonly unknown[][] {
  processWide('warned', () => new Set<string>()).clear();
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emitted.mockRestore());
  return emitted.mock.calls;
}

const principal = ({ extra }: AuthInfo) => extra?.sub as string | undefined;
const guest: AuthInfo = { ...callerNamed('guest'), extra: {} };
const verifier = { verifyAccessToken: async () => ({ ...guest, expiresAt: Number.MAX_SAFE_INTEGER }) };

test.each<[string, { options?: MountOptions; headers?: object; earlier?: AuthInfo; caller?: AuthInfo }]>([
  ['with a token, of which no caller came,', { headers: SIGNED }],
  ['with a cookie, of which no caller came,', { headers: { cookie: 'session=1' } }],
  ['without a caller, at a mount that had one before,', { earlier: callerNamed('ada') }],
  ['without a caller, at a mount with `principal`,', { options: { principal } }],
  ['whose caller has no principal', { options: { principal }, caller: guest }],
  ['whose token names no user', { options: { principal, verifier }, headers: SIGNED }],
])('a request %s is served, and warns once', async (_what, request) => {
  const warnings = watchWarnings();
  const { options, headers = {}, earlier, caller } = request;
  const { send, served } = mounting(options);
  if (earlier) await send('/mcp', LIST, { authInfo: earlier });
  expect(warnings).toEqual([]);
  for (const init of [LIST, INITIALIZE, LIST])
    expect((await send('/mcp', withHeaders(init, headers), caller && { authInfo: caller })).status).toBe(200);
  const places =
    /express: `req\.auth`; fastify: `request\.raw\.auth`.*hono: `mcp\.fetch\(c\.req\.raw, \{ authInfo/;
  expect(warnings).toEqual([[expect.stringMatching(places), { code: 'MRTR_ANONYMOUS' }]]);
  expect(served.errors).toEqual([]);
});

test.each<[string, MountOptions, object, AuthInfo | undefined]>([
  ['without users', {}, {}, undefined],
  ['whose operator means it', { anonymous: 'accept', principal }, SIGNED, undefined],
  ['that knows every caller', { principal }, SIGNED, callerNamed('ada')],
])('a mount %s does not warn', async (_what, options, headers, authInfo) => {
  const warnings = watchWarnings();
  const { send } = mounting(options);
  expect((await send('/mcp', withHeaders(LIST, headers), { authInfo })).status).toBe(200);
  expect(warnings).toEqual([]);
});

test("with anonymous: 'reject', a request without a caller gets 401 and a challenge, and onerror gets an error", async () => {
  const warnings = watchWarnings();
  const reasons: string[] = [];
  onTestFinished(observe('mrtr:rejection', ({ detail }) => void reasons.push(`${detail}`)));
  const { url, errors } = await hosting({ anonymous: 'reject', allowedOrigins: ['https://app.example'] });
  const requests = [LIST, withHeaders(LIST, SIGNED), INITIALIZE, oldRequest('tools/list'), {}];
  for (const init of requests) {
    const answer = await fetch(url, withHeaders(init, { origin: 'https://app.example' }));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(await answer.json()).toEqual({
      error: 'invalid_token',
      error_description: 'No caller was found; sign in',
    });
  }
  expect(errors).toEqual(requests.map(() => expect.stringContaining('fastify: `request.raw.auth`')));
  expect(reasons).toEqual(requests.map(() => 'http_unauthorized'));
  expect(warnings).toEqual([]);
  expect((await fetch(new URL('/healthz', url))).status).toBe(200);
});

test("with anonymous: 'reject', a caller is served, and a caller without a principal is not", async () => {
  const { send } = mounting({ anonymous: 'reject', principal });
  const status = async (authInfo: AuthInfo) => (await send('/mcp', LIST, { authInfo })).status;
  expect([await status(callerNamed('ada')), await status(guest)]).toEqual([200, 401]);
});
