import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorld } from '@mrtr/comparison';
import { requestStatePolicy } from '@mrtr/core';
import { demo } from '@mrtr/demo-sampling-and-roots';
import { eventsOf, resultText, type Transcript, tally } from '@mrtr/harness/transcript';
import { type ServerInstance, serveHttp } from '@mrtr/hosting/http';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { schemaMistakes } from '../../../tests/testkit/transcript-schema.ts';
import { UsageError } from './command-line.ts';
import { command, listening } from './serve.test-support.ts';
import { readServerCall } from './server-call.ts';
import { run, terminalWith } from './terminal.test-support.ts';

const { args } = command('option-g');
const STDIO = [process.execPath, ...args].map((word) => `"${word}"`).join(' ');
const TOKYO = ['--tool', 'get_weather', '--arguments', '{"location":"Tokyo"}'];

// One server for all tests.
const {
  running,
  url: { href: url },
} = await listening('option-g');
afterAll(() => running.kill());

test('a command is started, its tool called, and the person asked', async () => {
  const { code, out } = await run(['--server', STDIO, ...TOKYO], { typed: 'imperial\n' });
  expect(code).toBe(0);
  expect(out).toMatch(/^ get_weather +modern client\n\n .+\n\n {2}client +server\n/s);
  expect(out).toContain('┆  Units, required (1 metric | 2 imperial; decline, cancel): imperial\n');
  expect(out).toContain('☺ imperial');
  expect(out).toContain('Weather in Tokyo: 72°F, partly cloudy.');
  expect(out).toMatch(/\n {2}2 rounds · 1 question · no stream held open\n$/);
  // From outside, no sealing and no entry can be seen.
  expect(out).toMatch(/ state \d+ B {2}┃\n/);
  expect(out).not.toMatch(/sealed|entered/);
  for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
});

test('an address is called by an old client, which is asked over the stream', async () => {
  const { code, out } = await run(['--server', url, ...TOKYO, '--client', 'legacy'], { typed: 'metric\n' });
  expect(code).toBe(0);
  expect(out).toContain('elicitation/create  "Which units?"');
  expect(out).toContain('Weather in Tokyo: 22°C, partly cloudy.');
  expect(out).toMatch(/\n {2}1 round · 1 question · a stream held open · 2025-11-25\n$/);
});

test('--json prints the transcript and nothing else; a refusal needs nobody at the terminal', async () => {
  const { code, out } = await run(['--server', url, ...TOKYO, '--answer', 'decline', '--json']);
  expect(code).toBe(0);
  const transcript = JSON.parse(out) as Transcript;
  expect(tally(transcript)).toMatchObject({ rounds: 2, questions: 1 });
  expect(eventsOf('answer', transcript.events)).toMatchObject([{ reply: { action: 'decline' } }]);
});

test('--save writes the transcript beside the drawing, and says why it cannot', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mrtr-save-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'call.json');
  const call = ['--server', url, ...TOKYO, '--answer', 'decline', '--save'];
  const { code, out } = await run([...call, file]);
  expect([code, out]).toEqual([0, expect.stringContaining('☺ declines')]);
  const saved = JSON.parse(readFileSync(file, 'utf8')) as Transcript;
  expect(schemaMistakes([saved])).toEqual([]);
  expect(tally(saved)).toMatchObject({ rounds: 2, questions: 1 });
  const nowhere = await run([...call, join(folder, 'no', 'call.json')]);
  expect(nowhere).toMatchObject({ code: 2, err: expect.stringContaining('--save: ENOENT') });
});

test('a server that cannot be reached is drawn as an error, with the exit code 1', async () => {
  const { code, out } = await run(['--server', 'http://127.0.0.1:1/mcp', ...TOKYO]);
  expect(code).toBe(1);
  expect(out).toMatch(/✗ .+fetch failed: .+\n\n {2}0 rounds · 0 questions · no stream held open\n$/s);
});

test('a server that ends early says why, with the environment of the terminal and of its command', async () => {
  const crash = 'throw new Error(process.env.ONE + process.env.TWO)';
  const command = `TWO="2 3" "${process.execPath}" -e "${crash}"`;
  const { code, out, err } = await run(['--server', command, '--tool', 'deploy'], { env: { ONE: '1' } });
  expect(code).toBe(1);
  expect(out).toContain('✗ The server ended: Error: 12 3');
  expect(err).toMatch(/^\nThe server wrote to stderr:\n[\s\S]+Error: 12 3\n {6}at /);
});

test('a server that needs a model and roots gets scripted ones', async () => {
  const [, subject] = demo.subjects;
  const policy = requestStatePolicy({ keys: [randomBytes(32)], singleUse: false });
  const needy = await serveHttp(subject?.create({ policy, world: createWorld() }) as ServerInstance);
  onTestFinished(() => needy.close());
  const { code, out } = await run([
    ...['--server', `${needy.url}`, '--tool', 'summarise', '--arguments', '{"words":5}', '--json'],
  ]);
  expect(code).toBe(0);
  const { end, events } = JSON.parse(out) as Transcript;
  expect(eventsOf('roots', events)).toMatchObject([{ roots: [{ name: 'here' }] }]);
  expect(resultText(end.result ?? { content: [] })).toContain('the scripted model of `pnpm demo`');
});

test('a tool that the server does not have exits with 2 and names the tools; without a name it lists them', async () => {
  const tools = 'Tools: get_weather, resolve_work_item.\nMore: pnpm demo --help\n';
  const mistyped = await run(['--server', url, '--tool', 'get_wether']);
  const meant = `The server has no tool 'get_wether'. ${tools}`;
  expect(mistyped).toMatchObject({ code: 2, err: meant });
  expect(mistyped.out).not.toContain('client  ');
  expect(await run(['--server', url])).toMatchObject({ code: 2, err: `Which tool? ${tools}` });
});

test('the headers of the command line are sent to an address, and its answer says what is wrong', async () => {
  const asked: (string | undefined)[] = [];
  const guarded = createServer(({ headers }, response) => {
    asked.push(headers.authorization);
    response.writeHead(403).end('Not you.');
  }).listen(0, '127.0.0.1');
  await once(guarded, 'listening');
  const address = `http://127.0.0.1:${(guarded.address() as AddressInfo).port}/mcp`;
  for (const client of ['modern', 'legacy']) {
    const header = ['--header', 'Authorization: Bearer ada'];
    const { code, out } = await run(['--server', address, '--tool', 't', '--client', client, ...header]);
    expect([code, out]).toEqual([1, expect.stringMatching(/✗ .*(403|Not you)/s)]);
  }
  guarded.close();
  await once(guarded, 'close');
  expect(new Set(asked)).toEqual(new Set(['Bearer ada']));
});

const read = (args: readonly string[]) => readServerCall(args, terminalWith('', { A: '1', B: undefined }));

test('a command is split as a shell would, and a call without arguments has an empty object', () => {
  expect(read(['--server', `C="2 3" npx -y "a b" 'c"d' e='f g' it's`, '--tool', 't'])).toEqual({
    server: `C="2 3" npx -y "a b" 'c"d' e='f g' it's`,
    endpoint: {
      kind: 'stdio',
      command: 'npx',
      args: ['-y', 'a b', 'c"d', 'e=f g', "it's"],
      env: { A: '1', C: '2 3' },
    },
    tool: 't',
    arguments: {},
    client: 'modern',
    answer: 'ask',
    format: 'drawing',
  });
});

test.each([
  [['--server', ' '], '--server takes an address or a command.'],
  [['--server', 'A=1', '--tool', 't'], '--server takes an address or a command.'],
  [['--server', 'a', '--header', 'A: 1'], '--header goes with an address'],
  [
    ['--server', 'http://a/', '--header', 'a b: c'],
    "--header takes a line such as 'Authorization: Bearer TOKEN'.",
  ],
  [['--server', 'http://', '--tool', 't'], "--server: 'http://' is no address."],
  [['--server', 'a', '--arguments', '[1]'], 'It takes a JSON object, such as'],
  [['--server', 'a', '--arguments', '{'], 'It takes a JSON object, such as'],
  [['--server', 'a', '--answer', 'metric'], 'Allowed choices are ask, decline, cancel.'],
  [['--server', 'a', '--hosting', 'fleet'], "Unknown option '--hosting'."],
  [['basic', '--server', 'a', '--tool', 't'], 'Too many arguments'],
])('%j is rejected with what exists', (args, message) => {
  expect(() => read(args)).toThrow(UsageError);
  expect(() => read(args)).toThrow(message);
});

test('a wrong header is not repeated in the error: it may be a token', () => {
  const error = new UsageError("--header takes a line such as 'Authorization: Bearer TOKEN'.");
  expect(() => read(['--server', 'http://a/', '--header', 'secret'])).toThrow(error);
});
