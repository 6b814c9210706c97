/** Tries the limits of hosting that docs/security.md gives, over HTTP: what holds at each, and one beyond it. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import { Deferred, requestInit, settle, within } from '@mrtr/harness';
import { RunningProcess } from '@mrtr/harness/process';
import { type HttpOptions, listVerifier, serveHttp } from '@mrtr/hosting/http';
import { expect, onTestFinished, vi } from 'vitest';

const MIB = 1_048_576;
const SUBJECTS = ['ada', 'bob'];

/** A server with a tool that waits for the end of the test, and ways to ask it. */
async function server(options: HttpOptions = {}) {
  const tool = new WaitingTool();
  const { url, close } = await serveHttp(tool, { drainMs: 5, ...options });
  const left = new AbortController();
  const sockets: Socket[] = [];
  // `fetch` ends the stream of a response that is garbage collected, and a subscription with it.
  const held: Response[] = [];
  onTestFinished(() => {
    tool.released.open();
    left.abort();
    held.length = 0;
    for (const socket of sockets) socket.destroy();
    return close();
  });
  const connected = () => {
    const socket = connect(Number(url.port), url.hostname).on('error', () => {});
    sockets.push(socket);
    return socket;
  };
  /** Sends a request; resolves with the status of its response when that begins. */
  const status = async (init: RequestInit) => {
    const response = await fetch(url, { ...init, signal: left.signal });
    held.push(response);
    return response.status;
  };
  /** Sends requests on one connection, which costs less than many; their responses may wait for one another. */
  const pipelined = (requests: readonly string[]) => {
    const answers = { text: '' };
    const socket = connected().setEncoding('utf8');
    socket.on('data', (text: string) => {
      answers.text += text;
    });
    for (const request of requests) socket.write(request);
    return { socket, answers };
  };
  /** Sends requests that wait for the end, and waits until the calls among them have been let in. */
  const enter = async (...connections: readonly (readonly RequestInit[])[]) => {
    const calls = connections.flat().filter(({ body }) => `${body}`.includes('"wait"')).length;
    const all = tool.reaches(tool.calls + calls);
    for (const requests of connections) pipelined(requests.map((request) => bytesOf(request)));
    await within(20_000, all, () => `${tool.calls} calls were let in, and ${calls} more were sent.`);
  };
  /** Sends what is answered at once; resolves with the statuses that came. */
  const statuses = async (requests: readonly RequestInit[]) => {
    const { socket, answers } = pipelined([...requests.map((request) => bytesOf(request)), LAST]);
    await once(socket, 'close');
    const found = [...answers.text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, code]) => Number(code));
    expect(found).toHaveLength(requests.length + 1);
    return [...new Set(found)];
  };
  /** Has clients at 2026-07-28 make calls that wait, and hang up. */
  const cancel = async (calls: readonly RequestInit[]) => {
    await enter(calls);
    const cancelled = tool.cancelled(calls.length);
    sockets.at(-1)?.destroy();
    await cancelled;
    await settle(2);
  };
  return { url, connected, status, enter, statuses, cancel };
}

/** Serves a tool that waits until it is released. */
class WaitingTool {
  readonly released = new Deferred();
  calls = 0;
  readonly #policy = requestStatePolicy({
    keys: ['k'.repeat(32)],
    singleUse: false,
    maxCalls: 5000,
    maxCallsPerPrincipal: 5000,
  });
  #uncancelled = 0;
  #allCancelled = new Deferred();
  #awaited: { readonly calls: number; readonly gate: Deferred } | undefined;

  server() {
    const mcp = protectedServer({ name: 'limited', version: '1.0.0' }, this.#policy);
    mcp.registerTool('wait', {}, async ({ mcpReq: { signal } }) => {
      signal.addEventListener('abort', () => --this.#uncancelled || this.#allCancelled.open());
      if (++this.calls === this.#awaited?.calls) this.#awaited.gate.open();
      await this.released.promise;
      return textResult('Waited.');
    });
    return mcp;
  }

  /** Resolves when so many more calls have been cancelled. */
  cancelled(calls: number): Promise<void> {
    this.#uncancelled = calls;
    this.#allCancelled = new Deferred();
    return this.#allCancelled.promise;
  }

  /** Resolves when so many calls have been entered. */
  reaches(calls: number): Promise<void> {
    const gate = new Deferred();
    this.#awaited = { calls, gate };
    return gate.promise;
  }

  async close() {}
}

/** A request as it goes over the wire. */
function bytesOf({ headers, body }: RequestInit, further: readonly string[] = []): string {
  const lines = Object.entries(headers as Record<string, string>).map((header) => header.join(': '));
  const length = further.length > 0 ? [] : [`Content-Length: ${Buffer.byteLength(`${body}`)}`];
  const head = ['POST /mcp HTTP/1.1', 'Host: localhost', ...lines, ...length, ...further];
  return `${head.join('\r\n')}\r\n\r\n${further.length > 0 ? '' : body}`;
}

const LAST = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** Sends the head of a request, and of its body so much; the rest never comes. */
async function unfinished(socket: Socket, bytes: number, subject?: string) {
  const answer = { text: '' };
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer.text += text;
  });
  const further = [`Content-Length: ${bytes + 1}`, 'Expect: 100-continue'];
  socket.write(bytesOf(as(subject, requestInit('tools/list')), further));
  await once(socket, 'data');
  expect(answer.text).toBe(CONTINUE);
  socket.write(Buffer.alloc(bytes, ' '));
  return () => answer.text.slice(CONTINUE.length);
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
    const { url, connected } = await server();
    const socket = connected();
    const answer = await unfinished(socket, 0);
    vi.advanceTimersByTime(limit * 1000 - 1);
    expect((await fetch(new URL('/healthz', url))).status).toBe(200);
    expect(answer()).toBe('');
    vi.advanceTimersByTime(1);
    await once(socket, 'close');
    expect(answer()).toMatch(/^HTTP\/1\.1 408 /);
  },
  'time that a client may read nothing of what it asked for, in seconds': async (limit) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const large = async () => new Response(Buffer.alloc(16 * MIB));
    const { connected } = await server({ pages: [{ path: '/page', fetch: large }] });
    expect(await readAfter(connected(), limit * 1000 - 1)).toBeGreaterThan(16 * MIB);
    // At most a tenth late.
    expect(await readAfter(connected(), limit * 1100)).toBeLessThan(16 * MIB);
  },
  'bytes of bodies that come in': async (limit) => {
    await refusesIncoming(limit, undefined, 503);
  },
  'the same, of one principal': async (limit) => {
    await refusesIncoming(limit, 'ada', 429);
  },
  'requests served at once': async (limit) => {
    const { status, enter } = await server();
    await enter(times(limit, () => call()));
    expect(await status(call())).toBe(503);
  },
  'requests of one principal served at once': async (limit) => {
    const { status, enter } = await server({ verifier });
    await enter(times(limit, () => call('ada')));
    expect(await status(call('ada'))).toBe(429);
    await enter([call('bob')]);
  },
  'bytes of requests served at once': async (limit) => {
    const { status, enter } = await server();
    await enter(Array(limit / MIB).fill(callOf(MIB)));
    expect(await status(call())).toBe(503);
  },
  'bytes of requests of one principal served at once': async (limit) => {
    const { status, enter } = await server({ verifier });
    await enter(Array(limit / MIB).fill(callOf(MIB, 'ada')));
    expect(await status(call('ada'))).toBe(429);
    await enter([call('bob')]);
  },
  'handlers of cancelled requests': async (limit) => {
    const { status, enter, cancel } = await server({ maxCalls: limit + 1 });
    await cancel(times(limit + 1, () => call()));
    // One of them has kept its place.
    await enter(times(limit, () => call()));
    expect(await status(call())).toBe(503);
  },
  'handlers of cancelled requests of one principal': async (limit) => {
    const { status, enter, cancel } = await server({ verifier, maxCallsPerPrincipal: limit + 1 });
    await cancel(times(limit + 1, () => call('ada')));
    await enter(times(limit, () => call('ada')));
    expect(await status(call('ada'))).toBe(429);
    await cancel([call('bob')]);
    await enter(times(limit + 1, () => call('bob')));
  },
  'subscriptions at once': async (limit) => {
    const { status, enter } = await server();
    // Ten to a connection: Node reads no more of one whose responses pile up. When the call after them has been let in,
    // they have been.
    const groups = times(Math.ceil((limit - 1) / 10), (n) => Math.min(10, limit - 1 - 10 * n));
    await enter(...groups.map((count) => [...Array(count).fill(LISTEN), call()]));
    expect(await status(LISTEN)).toBe(200);
    expect(await status(LISTEN)).toBe(503);
  },
  'subscriptions of one principal at once': async (limit) => {
    const { status } = await server({ verifier });
    for (let n = 0; n < limit; n++) expect(await status(as('ada', LISTEN))).toBe(200);
    expect(await status(as('ada', LISTEN))).toBe(429);
    expect(await status(as('bob', LISTEN))).toBe(200);
  },
  'sessions in all': async (limit) => {
    const { status, statuses } = await server();
    expect(await statuses(times(limit, () => initialize()))).toEqual([200]);
    expect(await status(initialize())).toBe(503);
  },
  'sessions of one principal': async (limit) => {
    const { status, statuses } = await server({ verifier });
    expect(await statuses(times(limit, () => as('ada', initialize())))).toEqual([200]);
    expect(await status(as('ada', initialize()))).toBe(429);
    expect(await status(as('bob', initialize()))).toBe(200);
  },
  'bytes that sessions keep': async (limit) => {
    const { status, statuses } = await server();
    expect(await statuses(times(limit / 65_536, () => initializeOf(65_536)))).toEqual([200]);
    expect(await status(initialize())).toBe(503);
  },
  'bytes that sessions of one principal keep': async (limit) => {
    const { status, statuses } = await server({ verifier });
    expect(await statuses(times(limit / 65_536, () => initializeOf(65_536, 'ada')))).toEqual([200]);
    expect(await status(as('ada', initialize()))).toBe(429);
    expect(await status(as('bob', initialize()))).toBe(200);
  },
  'calls open in one session': async (limit) => {
    const { url, status, enter } = await server();
    const session = (await fetch(url, initialize())).headers.get('mcp-session-id') ?? '';
    const wait = (id: number) =>
      requestInit(
        'tools/call',
        { name: 'wait' },
        { legacy: true, id, headers: { 'mcp-session-id': session } },
      );
    for (let id = 1; id <= limit; id++) expect(await status(wait(id))).toBe(200);
    expect(await status(wait(limit + 1))).toBe(429);
    await enter([call()]);
  },
  'pages served at once': async (limit) => {
    const [entered, released] = [new Deferred(), new Deferred()];
    let open = 0;
    const slow = async () => {
      if (++open === limit) entered.open();
      await released.promise;
      return new Response('Served.');
    };
    const { url } = await server({ pages: [{ path: '/page', fetch: slow }] });
    const page = new URL('/page/slow', url);
    const all = Array.from({ length: limit }, () => fetch(page));
    await within(20_000, entered.promise, () => `${open} pages are open.`);
    expect((await fetch(page)).status).toBe(503);
    released.open();
    expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await fetch(page)).status).toBe(200);
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

/** Asks for a large page, reads nothing of it for so long, and then reads the rest. Returns how many bytes came. */
async function readAfter(socket: Socket, ms: number): Promise<number> {
  socket.pause().write('GET /page/large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await once(socket, 'readable');
  await settle(20);
  vi.advanceTimersByTime(ms);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const closed = once(socket, 'close');
  socket.resume();
  await within(10_000, closed, () => `${bytes} bytes came, and the connection stayed open.`);
  return bytes;
}

/** Unfinished bodies that hold as much as they may are kept waiting, and one more is refused. */
async function refusesIncoming(limit: number, subject: string | undefined, refusal: number): Promise<void> {
  const { status, connected } = await server(subject === undefined ? {} : { verifier });
  const answers = await Promise.all(times(limit / MIB, () => unfinished(connected(), MIB - 1, subject)));
  const small = as(subject, requestInit('tools/list'));
  let last = 0;
  for (let time = 0; time < 1000 && last !== refusal; time++) last = await status(small);
  expect(last).toBe(refusal);
  expect(answers.map((answer) => answer())).toEqual(answers.map(() => ''));
  if (subject !== undefined) expect(await status(as('bob', requestInit('tools/list')))).toBe(200);
}
