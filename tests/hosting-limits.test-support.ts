/** Tries the limits of hosting that docs/security.md gives, over HTTP: what holds at each, and one beyond it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import { Gate, requestInit, until } from '@mrtr/harness';
import { RunningProcess } from '@mrtr/harness/process';
import { type HttpOptions, listVerifier, serveHttp } from '@mrtr/hosting/http';
import { expect, onTestFinished, vi } from 'vitest';

const MIB = 1_048_576;
const SUBJECTS = ['ada', 'bob'];

/** A server with a tool that waits for the end of the test, and ways to ask it. */
async function server(options: HttpOptions = {}) {
  const released = new Gate();
  const seen = { calls: 0 };
  const policy = requestStatePolicy({
    keys: ['k'.repeat(32)],
    singleUse: false,
    maxCalls: 5000,
    maxCallsPerPrincipal: 5000,
  });
  const { url, close } = await serveHttp(
    {
      server() {
        const mcp = protectedServer({ name: 'limited', version: '1.0.0' }, policy);
        mcp.registerTool('wait', {}, async () => {
          seen.calls++;
          await released.promise;
          return textResult('Waited.');
        });
        return mcp;
      },
      async close() {},
    },
    { drainMs: 5, ...options },
  );
  const sockets: Socket[] = [];
  const left = new AbortController();
  onTestFinished(() => {
    released.open();
    left.abort();
    for (const socket of sockets) socket.destroy();
    return close();
  });
  /** Sends a request; resolves with the status of its response when that begins. */
  const status = async (init: RequestInit) => (await fetch(url, { ...init, signal: left.signal })).status;
  /** Sends calls that wait; resolves when all have been entered, or with the status of the first that is refused. */
  const entered = async (calls: readonly RequestInit[]) => {
    const before = seen.calls;
    const refused = Promise.race(calls.map((call) => status(call).catch(() => new Promise<never>(() => {}))));
    const all = until(() => seen.calls === before + calls.length, 2_000_000).then(() => 'entered' as const);
    return Promise.race([refused, all]);
  };
  /** Opens a connection and sends the head of a request, and of its body so much; the rest never comes. */
  const unfinished = async (bytes: number, subject?: string) => {
    const socket = connect(Number(url.port), url.hostname).on('error', () => {});
    sockets.push(socket);
    const answer = { text: '' };
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer.text += text;
    });
    const headers = Object.entries(as(subject, requestInit('tools/list')).headers as Record<string, string>);
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      `Content-Length: ${bytes + 1}`,
      'Expect: 100-continue',
    ];
    socket.write(`${[...head, ...headers.map((header) => header.join(': '))].join('\r\n')}\r\n\r\n`);
    await once(socket, 'data');
    expect(answer.text).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(Buffer.alloc(bytes, ' '));
    return { socket, answer: () => answer.text.slice('HTTP/1.1 100 Continue\r\n\r\n'.length) };
  };
  return { url, status, entered, unfinished };
}

const verifier = listVerifier(SUBJECTS.map((subject) => ({ subject, token: `token-of-${subject}` })));

const as = (subject: string | undefined, init: RequestInit): RequestInit => ({
  ...init,
  headers: {
    ...(init.headers as Record<string, string>),
    ...(subject !== undefined && { authorization: `Bearer token-of-${subject}` }),
  },
});

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** A request whose body has so many bytes. */
function sized(request: ReturnType<typeof requestInit>, bytes: number): RequestInit {
  const body = request.body.replace('"FILL"', JSON.stringify('x'.repeat(bytes - request.body.length + 4)));
  return { ...request, body };
}

const call = (subject?: string): RequestInit => as(subject, requestInit('tools/call', { name: 'wait' }));
const callOf = (bytes: number, subject?: string): RequestInit =>
  as(subject, sized(requestInit('tools/call', { name: 'wait', arguments: { x: 'FILL' } }), bytes));
const LISTEN = requestInit('subscriptions/listen', { notifications: { toolsListChanged: true } });

const initialize = (experimental: object = {}) =>
  requestInit(
    'initialize',
    {
      protocolVersion: '2025-11-25',
      capabilities: { experimental },
      clientInfo: { name: 'old', version: '1.0.0' },
    },
    { legacy: true },
  );
const initializeOf = (bytes: number, subject?: string): RequestInit =>
  as(subject, sized(initialize({ x: { y: 'FILL' } }), bytes));
const members = (count: number) => Object.fromEntries(times(count, (n) => [`k${n}`, {}]));

/** What holds at the limit, and one beyond it. */
export const HOSTING_HOLDS: Readonly<Record<string, (limit: number) => unknown>> = {
  'request body, in bytes': async (limit) => {
    const { status } = await server();
    const spaces = (bytes: number) => ({ ...requestInit('x'), body: '{}'.padEnd(bytes, ' ') });
    expect(await status(spaces(limit))).toBe(400);
    expect(await status(spaces(limit + 1))).toBe(413);
  },
  'members of a request body': async (limit) => {
    const { status } = await server();
    const numbers = (commas: number) => ({ ...requestInit('x'), body: `[${'0,'.repeat(commas)}0]` });
    expect(await status(numbers(limit - 1))).toBe(400);
    expect(await status(numbers(limit))).toBe(413);
  },
  'members of `_meta`': async (limit) => {
    const { status } = await server();
    const listing = (count: number) => requestInit('tools/list', { _meta: members(count) });
    // The two of the protocol, and one in the second.
    expect(await status(listing(limit - 3))).toBe(200);
    expect(await status(listing(limit - 2))).toBe(413);
  },
  'an `initialize`, in bytes': async (limit) => {
    const { status } = await server();
    expect(await status(initializeOf(limit))).toBe(200);
    expect(await status(initializeOf(limit + 1))).toBe(413);
  },
  'members of an `initialize`': async (limit) => {
    const { status } = await server();
    // The six of its own.
    expect(await status(initialize(members(limit - 6)))).toBe(200);
    expect(await status(initialize(members(limit - 5)))).toBe(413);
  },
  'time for a request body, in seconds': async (limit) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { url, unfinished } = await server();
    const { socket, answer } = await unfinished(0);
    vi.advanceTimersByTime(limit * 1000 - 1);
    expect((await fetch(new URL('/healthz', url))).status).toBe(200);
    expect(answer()).toBe('');
    vi.advanceTimersByTime(1);
    await once(socket, 'close');
    expect(answer()).toMatch(/^HTTP\/1\.1 408 /);
  },
  'bytes of bodies that come in': async (limit) => {
    await refusesIncoming(limit, undefined, 503);
  },
  'the same, of one principal': async (limit) => {
    await refusesIncoming(limit, 'ada', 429);
  },
  'requests served at once': async (limit) => {
    const { status, entered } = await server();
    expect(await entered(times(limit, () => call()))).toBe('entered');
    expect(await status(call())).toBe(503);
  },
  'requests of one principal served at once': async (limit) => {
    const { status, entered } = await server({ verifier });
    expect(await entered(times(limit, () => call('ada')))).toBe('entered');
    expect(await status(call('ada'))).toBe(429);
    expect(await entered([call('bob')])).toBe('entered');
  },
  'bytes of requests served at once': async (limit) => {
    const { status, entered } = await server();
    expect(await entered(times(limit / MIB, () => callOf(MIB)))).toBe('entered');
    expect(await status(call())).toBe(503);
  },
  'bytes of requests of one principal served at once': async (limit) => {
    const { status, entered } = await server({ verifier });
    expect(await entered(times(limit / MIB, () => callOf(MIB, 'ada')))).toBe('entered');
    expect(await status(call('ada'))).toBe(429);
    expect(await entered([call('bob')])).toBe('entered');
  },
  'subscriptions at once': async (limit) => {
    const { status } = await server();
    expect(new Set(await Promise.all(times(limit, () => status(LISTEN))))).toEqual(new Set([200]));
    expect(await status(LISTEN)).toBe(503);
  },
  'subscriptions of one principal at once': async (limit) => {
    const { status } = await server({ verifier });
    for (let n = 0; n < limit; n++) expect(await status(as('ada', LISTEN))).toBe(200);
    expect(await status(as('ada', LISTEN))).toBe(429);
    expect(await status(as('bob', LISTEN))).toBe(200);
  },
  'sessions in all': async (limit) => {
    const { status } = await server();
    expect(new Set(await Promise.all(times(limit, () => status(initialize()))))).toEqual(new Set([200]));
    expect(await status(initialize())).toBe(503);
  },
  'sessions of one principal': async (limit) => {
    const { status } = await server({ verifier });
    for (let n = 0; n < limit; n++) expect(await status(as('ada', initialize()))).toBe(200);
    expect(await status(as('ada', initialize()))).toBe(429);
    expect(await status(as('bob', initialize()))).toBe(200);
  },
  'bytes that sessions keep': async (limit) => {
    const { status } = await server();
    for (let n = 0; n < limit / 65_536; n++) expect(await status(initializeOf(65_536))).toBe(200);
    expect(await status(initialize())).toBe(503);
  },
  'bytes that sessions of one principal keep': async (limit) => {
    const { status } = await server({ verifier });
    for (let n = 0; n < limit / 65_536; n++) expect(await status(initializeOf(65_536, 'ada'))).toBe(200);
    expect(await status(as('ada', initialize()))).toBe(429);
    expect(await status(as('bob', initialize()))).toBe(200);
  },
  'calls open in one session': async (limit) => {
    const { url, status, entered } = await server();
    const session = (await fetch(url, initialize())).headers.get('mcp-session-id') ?? '';
    const wait = (id: number) =>
      requestInit(
        'tools/call',
        { name: 'wait' },
        { legacy: true, id, headers: { 'mcp-session-id': session } },
      );
    for (let id = 1; id <= limit; id++) expect(await status(wait(id))).toBe(200);
    expect(await status(wait(limit + 1))).toBe(429);
    expect(await entered([call()])).toBe('entered');
  },
  'a line over stdio, in bytes': async (limit) => {
    const program = new RunningProcess({
      command: process.execPath,
      args: ['demos/cli/run.mjs', 'serve', 'option-h', '--stdio'],
    });
    onTestFinished(() => program.kill());
    const { stdin } = program.child;
    const line = requestInit('tools/list').body;
    stdin?.write(`${line.padEnd(limit - 1, ' ')}\n`);
    await program.until(({ out }) => (out.includes('get_weather') ? true : undefined));
    stdin?.write(line.padEnd(limit + 1, ' '));
    expect(await program.ended).toBe(0);
    expect(program.said.err).toContain(`a line of over ${limit} bytes`);
  },
};

/** Unfinished bodies that hold as much as they may are kept waiting, and one more is refused. */
async function refusesIncoming(limit: number, subject: string | undefined, refusal: number): Promise<void> {
  const { status, unfinished } = await server(subject === undefined ? {} : { verifier });
  const bodies = await Promise.all(times(limit / MIB, () => unfinished(MIB - 1, subject)));
  const small = as(subject, requestInit('tools/list'));
  let last = 0;
  for (let time = 0; time < 1000 && last !== refusal; time++) last = await status(small);
  expect(last).toBe(refusal);
  expect(bodies.map(({ answer }) => answer())).toEqual(bodies.map(() => ''));
  if (subject !== undefined) expect(await status(as('bob', requestInit('tools/list')))).toBe(200);
}
