/** Attacks on the endpoint of a lab with real processes, by other pages and programs. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CommandEndpoint, openCommandEndpoint } from './command-endpoint.ts';
import { COMMANDS } from './commands.test-support.ts';
import { Lab } from './lab.ts';
import type { Command } from './protocol.ts';

const { setUp: SET_UP } = COMMANDS['set-up'];

const home = mkdtempSync(join(tmpdir(), 'mrtr-lab-'));
const folder = join(home, 'page');
let lab: Lab;
let endpoint: CommandEndpoint;
let origin: string;

beforeAll(async () => {
  mkdirSync(folder);
  for (const name of ['index.html', 'lab.js']) writeFileSync(join(folder, name), 'the page');
  writeFileSync(join(home, 'mrtr-lab-secret.js'), 'not the page');
  lab = new Lab();
  endpoint = await openCommandEndpoint(lab, { page: folder, recorded: join(folder, 'nowhere') });
  origin = new URL(endpoint.address).origin;
  await lab.until('left', ({ doing }) => doing === 'ready');
  await lab.until('right', ({ doing }) => doing === 'ready');
});
afterAll(async () => {
  await endpoint.close();
  await lab.close();
  rmSync(home, { recursive: true });
});

const stateOf = (side: 'left' | 'right') => lab.until(side, () => true);

/** Posts without `fetch`, which does not allow the headers `host` and `origin`. */
function post(
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  method = 'POST',
): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    // Node does not set the length for every method.
    const whole = { ...headers, 'content-length': Buffer.byteLength(body) };
    const sent = httpRequest({ hostname, port, path, method, headers: whole }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end(body);
  });
}

const good = () => ({
  host: new URL(origin).host,
  origin,
  authorization: `Bearer ${endpoint.token}`,
  'content-type': 'application/json',
});

const send = async (command: Command) => expect(await post('/do', JSON.stringify(command), good())).toBe(204);

/** The differences from the page's own command. */
interface Sent extends Readonly<Partial<Record<'origin' | 'host' | 'content-type', string | undefined>>> {
  readonly authorization?: string | ((whole: string) => string);
  readonly body?: string;
  readonly method?: string;
}

describe.each(Object.values(COMMANDS))('the command $do', (command) => {
  const body = JSON.stringify(command);

  test.each<[how: string, status: number, sent: Sent]>([
    ['from a page of another site', 403, { origin: 'http://evil.example' }],
    ['from a page of another port', 403, { origin: 'http://127.0.0.1:1' }],
    ['from a page without an origin', 403, { origin: 'null' }],
    ['without an origin', 403, { origin: undefined }],
    ['without the token', 403, { authorization: '' }],
    ['with another token', 403, { authorization: `Bearer ${'x'.repeat(32)}` }],
    ['with the beginning of the token', 403, { authorization: (whole) => whole.slice(0, -1) }],
    ['with the token in place of its header', 403, { authorization: () => endpoint.token }],
    ['under a name that points here', 421, { host: 'evil.example' }],
    ['as the page of that name', 421, { host: 'evil.example', origin: 'http://evil.example' }],
    ['under another port', 421, { host: '127.0.0.1:1', origin: 'http://127.0.0.1:1' }],
    ['as a form would send it', 415, { 'content-type': 'text/plain' }],
    ['as a form, with its name', 415, { 'content-type': 'text/plain; application/json' }],
    ['with a member more', 400, { body: JSON.stringify({ ...command, pid: 1 }) }],
    ['for another side', 400, { body: JSON.stringify({ ...command, side: 'both' }) }],
    ['in a list', 400, { body: `[${body}]` }],
    ['cut', 400, { body: body.slice(0, -1) }],
    // A valid command, but too long.
    ['with too much around it', 413, { body: body + ' '.repeat(70_000) }],
    ...['GET', 'PUT', 'OPTIONS', 'DELETE'].map((method): [string, number, Sent] => [
      `by ${method}`,
      405,
      { method },
    ]),
  ])(
    'is rejected %s, and nothing happens',
    async (_how, status, { body: text = body, method, ...changed }) => {
      const headers = Object.entries({ ...good(), ...changed }).flatMap(([name, value]) =>
        value === undefined
          ? []
          : [[name, typeof value === 'function' ? value(good().authorization) : value]],
      );
      const before = await stateOf('left');
      expect(await post('/do', text, Object.fromEntries(headers), method)).toBe(status);
      expect(await stateOf('left')).toEqual(before);
    },
  );
});

test('no address of the endpoint takes a command by GET, or tells anything without the token', async () => {
  for (const path of ['/do', '/changes']) expect((await fetch(origin + path)).status).toBe(405);
  expect(await post('/changes', '', { ...good(), authorization: '' })).toBe(403);
  expect(await post('/changes', '', { ...good(), origin: 'http://evil.example' })).toBe(403);
  const { origin: _, ...withoutOrigin } = good();
  expect(await post('/changes', '', withoutOrigin)).toBe(403);
  expect(await post('/changes', '', { ...good(), host: 'evil.example' })).toBe(421);
});

test('the endpoint answers to both of its names, and serves its files to nobody else', async () => {
  const { port } = new URL(origin);
  for (const name of ['127.0.0.1', 'localhost']) {
    const own = { ...good(), host: `${name}:${port}`, origin: `http://${name}:${port}` };
    expect(await post('/do', 'no command', own)).toBe(400);
  }
  expect(await post('/', '', { host: 'evil.example' }, 'GET')).toBe(421);
  expect(await post('/', '', { ...good(), origin: 'http://evil.example' }, 'GET')).toBe(403);
  expect(await post('/', '', good(), 'POST')).toBe(405);
});

test.each([
  '/mrtr-lab-secret.js',
  '/../mrtr-lab-secret.js',
  '/recorded/../../mrtr-lab-secret.js',
  '/%2e%2e/mrtr-lab-secret.js',
  '/recorded/..%2f..%2fmrtr-lab-secret.js',
  '//evil.example/lab.js',
  '/etc/passwd',
])('the endpoint serves no file of elsewhere: %s', async (path) => {
  const { hostname, port, host } = new URL(origin);
  const status = await new Promise((resolve) => {
    httpRequest({ hostname, port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).end();
  });
  expect(status).toBe(404);
});

test('the page comes under a policy that lets it run nothing but itself', async () => {
  const response = await fetch(origin);
  expect(await response.text()).toBe('the page');
  const policy = response.headers.get('content-security-policy');
  expect(policy).toMatch(/^default-src 'none'; script-src 'self';.* frame-ancestors 'none'$/);
  expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
});

test('with the token, a call is made, its user answers, and the retry is delivered twice', async () => {
  await send({ do: 'set-up', side: 'left', setUp: SET_UP });
  await send({ do: 'call', side: 'left' });
  const { asked } = await lab.until('left', ({ doing }) => doing === 'asked');
  expect(asked?.message).toBe('How was #4522 resolved?');
  await send({ do: 'fault', side: 'left', fault: { deliver: 'twice' } });
  const reply = { action: 'accept', content: { resolution: 'Fixed' } } as const;
  await send({ do: 'answer', side: 'left', question: 1, reply });
  const { conversation } = await lab.until('left', ({ doing }) => doing === 'over');
  expect(conversation?.events.filter(({ kind }) => kind === 'effect')).toHaveLength(2);
});
