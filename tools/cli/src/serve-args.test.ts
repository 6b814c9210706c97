import { expect, test } from 'vitest';
import { UsageError } from './command-line.ts';
import { readServeArgs } from './serve-args.ts';
import { terminalWith } from './terminal.test-support.ts';

const SECRET = 'a-secret-that-is-long-enough';
const ENV = { TOKENS: `alice=${SECRET}`, KEYS: ' new key , old key\n', EMPTY: ' ', SHORT: 'alice=short' };
function read(line: string, env = {}) {
  const settings = readServeArgs(line.split(' ').filter(Boolean), terminalWith('', { ...ENV, ...env }));
  if (!settings) return undefined;
  const { demo, ...rest } = settings;
  return { option: demo.name, ...rest };
}

const DEFAULTS = { option: 'option-g', legacy: 'shim' };

test('an option without flags is served over stdio, by its name, its letter or its word', () => {
  for (const line of ['option-g', 'g', 'tool-builder', '-- g --stdio']) expect(read(line)).toEqual(DEFAULTS);
});

test('everything can be chosen', () => {
  const line = 'h --http 8080 --token-env TOKENS --state-key-env KEYS --legacy degrade';
  expect(read(line)).toEqual({
    option: 'option-h',
    legacy: 'degrade',
    keys: ['new key', 'old key'],
    http: { port: 8080, verifier: { verifyAccessToken: expect.any(Function) } },
  });
});

test('H keeps its calls in a new database, or with keys in a given one', () => {
  expect(read('h --postgres')).toMatchObject({ option: 'option-h', database: { url: undefined } });
  const url = 'postgres://ada:secret@10.0.0.7/calls';
  expect(read(`h --postgres ${url} --state-key-env KEYS`)?.database).toEqual({ url });
  const unsealed = /is sealed, .+: give --state-key-env NAME\.$/;
  expect(() => read(`h --postgres ${url}`)).toThrow(unsealed);
  expect(() => read('h --postgres', { MRTR_POSTGRES: url })).toThrow(unsealed);
});

test('the help fits 80 columns', () => {
  const terminal = terminalWith();
  expect(readServeArgs(['--help'], terminal)).toBeUndefined();
  for (const line of terminal.said().out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test.each([
  ['', "Missing required argument 'option'."],
  ['basic', 'It takes the name of an option: option-a,'],
  ['g --http web', "argument 'web' is invalid. It takes a port from 0 to 65535."],
  ['g --http 65536', "argument '65536' is invalid. It takes a port from 0 to 65535."],
  ['g --stdio --http 1', "Option '--http <port>' cannot be used with option '--stdio'."],
  ['g --token-env TOKENS', '--token-env goes with --http PORT.'],
  ['g --postgres', "'option-g' keeps no calls: --postgres goes with option-h."],
  ['g --state-key-env NONE', '--state-key-env: the environment variable NONE is not set.'],
  ['g --state-key-env EMPTY', '--state-key-env: the environment variable EMPTY is empty.'],
  ['g --http 1 --token-env SHORT', "--token-env: SHORT cannot be read. The token of 'alice' is under 16"],
])('`%s` is rejected with what exists or is missing', (line, message) => {
  expect(() => read(line)).toThrow(UsageError);
  expect(() => read(line)).toThrow(message);
});

test('the error does not repeat a secret that stands where a name belongs', () => {
  for (const flag of ['--token-env', '--state-key-env']) {
    const error = new UsageError(`${flag} takes the name of an environment variable, and not what is in it.`);
    expect(() => read(`g --http 1 ${flag} ${SECRET}+/=`)).toThrow(error);
  }
});
