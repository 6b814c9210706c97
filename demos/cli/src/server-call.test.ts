import { fileURLToPath } from 'node:url';
import { RunningProcess } from '@mrtr/harness/process';
import { eventsOf, type Transcript, tally } from '@mrtr/harness/transcript';
import { afterAll, expect, test } from 'vitest';
import { readArgs } from './args.ts';
import { UsageError } from './command-line.ts';
import { main } from './main.ts';
import { terminalWith } from './terminal.test-support.ts';

const RUN = fileURLToPath(new URL('../run.mjs', import.meta.url));
const STDIO = `"${process.execPath}" "${RUN}" serve option-g`;
const TOKYO = ['--tool', 'get_weather', '--arguments', '{"location":"Tokyo"}'];

async function demo(args: readonly string[], typed = '') {
  const terminal = terminalWith(typed);
  const code = await main(args, terminal);
  return { code, ...terminal.said() };
}

// One that listens, for all tests.
const { server, url } = await (async () => {
  const command = { command: process.execPath, args: [RUN, 'serve', 'option-g', '--http', '0'] };
  const server = new RunningProcess(command);
  return { server, url: await server.until(({ err }) => / at (http:\S+)\n/.exec(err)?.[1]) };
})();
afterAll(() => server.kill());

test('a command is started, its tool called, and the person asked', { timeout: 30_000 }, async () => {
  const { code, out } = await demo(['--server', STDIO, ...TOKYO], 'imperial\n');
  expect(code).toBe(0);
  expect(out).toMatch(/^ get_weather +modern client\n\n .+\n\n {2}client +server\n/s);
  expect(out).toContain('┆  units (metric | imperial; decline, cancel): imperial\n');
  expect(out).toContain('☺ imperial');
  expect(out).toContain('Weather in Tokyo: 72°F, partly cloudy.');
  expect(out).toMatch(/\n {2}2 rounds · 1 question · no stream held open\n$/);
  for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
});

test('nothing is said about a server that only its inside shows', async () => {
  const { out } = await demo(['--server', url, ...TOKYO], 'imperial\n');
  expect(out).toMatch(/ state \d+ B {2}┃\n/);
  expect(out).not.toContain('sealed');
  expect(out).not.toContain('entered');
});

test('an address is called by an old client, which is asked over the stream', async () => {
  const { code, out } = await demo(['--server', url, ...TOKYO, '--client', 'legacy'], 'metric\n');
  expect(code).toBe(0);
  expect(out).toContain('elicitation/create  "Which units?"');
  expect(out).toContain('Weather in Tokyo: 22°C, partly cloudy.');
  expect(out).toMatch(/\n {2}1 round · 1 question · a stream held open · 2025-11-25\n$/);
});

test('a modern client at an old server is asked over the stream, and the revision is named', async () => {
  const program = fileURLToPath(new URL('./old-server.test-support.ts', import.meta.url));
  const command = `"${process.execPath}" --import "${import.meta.resolve('tsx')}" "${program}"`;
  const { code, out } = await demo(['--server', command, '--tool', 'deploy'], 'yes\n');
  expect(code).toBe(0);
  expect(out).toContain('Deployed.');
  expect(out).toMatch(/\n {2}1 round · 1 question · a stream held open · 2025-11-25\n$/);
}, 30_000);

test('--json prints the transcript and nothing else; a refusal needs nobody at the terminal', async () => {
  const { code, out } = await demo(['--server', url, ...TOKYO, '--answer', 'decline', '--json']);
  expect(code).toBe(0);
  const transcript = JSON.parse(out) as Transcript;
  expect(tally(transcript)).toMatchObject({ rounds: 2, questions: 1 });
  expect(eventsOf('answer', transcript.events)).toMatchObject([{ reply: { action: 'decline' } }]);
});

test('--mermaid prints a sequence diagram', async () => {
  const { out } = await demo(['--server', url, ...TOKYO, '--answer', 'cancel', '--mermaid']);
  expect(out).toMatch(/^sequenceDiagram\n/);
});

test('a server that cannot be reached is drawn as an error, with the exit code 1', async () => {
  const { code, out } = await demo(['--server', 'http://127.0.0.1:1/mcp', ...TOKYO]);
  expect(code).toBe(1);
  expect(out).toMatch(/✗ .+\n\n {2}0 rounds · 0 questions · no stream held open\n$/s);
});

const read = (args: readonly string[]) => readArgs(args, terminalWith());

test('a command is split as a shell would, and a call without arguments has an empty object', () => {
  expect(read(['--server', `npx -y "a b" 'c"d' e`, '--tool', 't'])).toEqual({
    server: `npx -y "a b" 'c"d' e`,
    endpoint: { kind: 'stdio', command: 'npx', args: ['-y', 'a b', 'c"d', 'e'] },
    tool: 't',
    arguments: {},
    client: 'modern',
    answer: 'ask',
    format: 'drawing',
  });
});

test.each([
  [['--server', 'http://a/'], '--server goes with --tool NAME.'],
  [['--server', ' ', '--tool', 't'], '--server takes an address or a command.'],
  [['--server', 'http://', '--tool', 't'], "--server: 'http://' is no address."],
  [['--server', 'a', '--tool', 't', '--arguments', '[1]'], '--arguments takes a JSON object, such as'],
  [['--server', 'a', '--tool', 't', '--arguments', '{'], '--arguments takes a JSON object, such as'],
  [
    ['--server', 'a', '--tool', 't', '--answer', 'metric'],
    "--answer cannot be 'metric' with --server. Values: ask, decline, cancel.",
  ],
  [['--server', 'a', '--tool', 't', '--hosting', 'fleet'], 'remove --hosting.'],
  [['basic', '--server', 'a', '--tool', 't'], "Give a name or --server, not both; remove 'basic'."],
  [['basic', '--arguments', '{}'], "'basic' takes only --client,"],
  [['option-e', '--tool', 'get_weather'], "--tool cannot be 'get_weather'. Values: weather, work-item."],
])('%j is refused with what exists', (args, message) => {
  expect(() => read(args)).toThrow(UsageError);
  expect(() => read(args)).toThrow(message);
});
