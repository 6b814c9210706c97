import { expect, test, vi } from 'vitest';
import { UsageError } from './command-line.ts';
import { readServeArgs } from './serve-args.ts';

const SECRET = 'a-secret-that-is-long-enough';
const ENV = { TOKENS: `alice=${SECRET}`, KEYS: ' new key , old key\n', EMPTY: ' ', SHORT: 'alice=short' };
function read(line: string) {
  const settings = readServeArgs(line.split(' ').filter(Boolean), { env: ENV, stdout: process.stdout });
  if (!settings) return undefined;
  const { demo, ...rest } = settings;
  return { option: demo.name, ...rest };
}

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];
const DEFAULTS = {
  option: 'option-g',
  legacy: 'shim',
  weather: 'fixed',
  keys: undefined,
  database: undefined,
  http: undefined,
};

test('an option without flags is served over stdio, by its name, its letter or its word', () => {
  for (const line of ['option-g', 'g', 'tool-builder', '-- g --stdio']) expect(read(line)).toEqual(DEFAULTS);
});

test('everything can be chosen', () => {
  expect(
    read(
      'h --http 8080 --host 10.0.0.7 --allowed-host a.example --allowed-host b.example ' +
        '--allowed-origin https://app.example --allowed-origin http://10.0.0.8:8000 --token-env TOKENS ' +
        '--state-key-env KEYS --legacy degrade --weather open-meteo',
    ),
  ).toEqual({
    option: 'option-h',
    legacy: 'degrade',
    weather: 'open-meteo',
    keys: ['new key', 'old key'],
    http: {
      host: '10.0.0.7',
      port: 8080,
      allowedHosts: [...LOCAL, 'a.example', 'b.example', '10.0.0.7'],
      allowedOrigins: ['https://app.example', 'http://10.0.0.8:8000'],
      holders: [{ subject: 'alice', token: SECRET }],
    },
  });
});

test('H keeps its calls in a new database, or with keys in a given one', () => {
  expect(read('h --store postgres')).toMatchObject({ option: 'option-h', database: { url: undefined } });
  const url = 'postgres://ada:secret@10.0.0.7/calls';
  expect(read(`h --store postgres --postgres ${url} --state-key-env KEYS`)?.database).toEqual({ url });
  const unsealed = new UsageError(
    'What is kept in a database is sealed, for other processes to open, with the keys of request state: give ' +
      '--state-key-env NAME.',
  );
  expect(() => read(`h --store postgres --postgres ${url}`)).toThrow(unsealed);
  expect(() =>
    readServeArgs(['h', '--store', 'postgres'], { env: { MRTR_POSTGRES: url }, stdout: process.stdout }),
  ).toThrow(unsealed);
});

test('HTTP is for this machine by default', () => {
  expect(read('g --http 0')?.http).toMatchObject({ host: '127.0.0.1', port: 0, holders: undefined });
  for (const host of ['localhost', '127.0.0.2', '::1', '[::1]']) {
    expect(read(`g --http 0 --host ${host}`)?.http?.host).toBe(host === '[::1]' ? '::1' : host);
  }
});

test.each(['0.0.0.0', '::', '10.0.0.7', 'box.example', '127.example'])(
  'on %s, --token-env or --insecure is required',
  (host) => {
    expect(() => read(`g --http 0 --host ${host}`)).toThrow(/Give --token-env NAME; or --insecure/);
    expect(read(`g --http 0 --host ${host} --token-env TOKENS`)?.http?.holders).toHaveLength(1);
    expect(read(`g --http 0 --host ${host} --insecure`)?.http?.holders).toBeUndefined();
  },
);

test('requests are not for an address that means all addresses', () => {
  expect(read('g --http 0 --host 0.0.0.0 --insecure')?.http?.allowedHosts).toEqual(LOCAL);
  expect(read('g --http 0 --host fe80::1 --insecure')?.http?.allowedHosts).toEqual([...LOCAL, '[fe80::1]']);
});

test('the help fits 80 columns', () => {
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    expect(read('--help')).toBeUndefined();
    for (const line of printed.mock.calls.join('').split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  } finally {
    printed.mockRestore();
  }
});

test.each([
  ['', 'Which option? Names: option-a, option-b,'],
  ['basic', "There is no option 'basic'. Names: option-a,"],
  ['option-', "There is no option 'option-'."],
  ['g h', "Run one option at a time; remove 'h'."],
  ['g --frobnicate', "Unknown option '--frobnicate'. Options: --stdio, --http, --host,"],
  ['g --http', "Option '--http <port>' argument missing."],
  ['g --http web', "argument 'web' is invalid. It takes a port from 0 to 65535."],
  ['g --http 65536', "argument '65536' is invalid. It takes a port from 0 to 65535."],
  [
    'g --http 1 --allowed-origin https://a.example/',
    "argument 'https://a.example/' is invalid. It takes an origin without a path, such as https://app.example.",
  ],
  ['g --allowed-origin https://a.example', '--allowed-origin goes with --http PORT.'],
  ['g --http=', "argument '' is invalid. It takes a port from 0 to 65535."],
  ['g --http 1 --host=', '--host takes an address of this machine.'],
  ['g --stdio --http 1', "Option '--http <port>' cannot be used with option '--stdio'."],
  ['g --host ::1', '--host goes with --http PORT.'],
  ['g --token-env TOKENS', '--token-env goes with --http PORT.'],
  ['g --insecure --stdio', '--insecure goes with --http PORT.'],
  ['g --store postgres', "'option-g' keeps no calls: --store goes with option-h."],
  ['h --store disk', "argument 'disk' is invalid. Allowed choices are memory, postgres."],
  ['h --postgres postgres://a/b', '--postgres goes with --store postgres.'],
  ['h --store postgres --postgres secret', '--postgres takes a connection string: postgres://'],
  ['g --legacy never', "argument 'never' is invalid. Allowed choices are shim, degrade."],
  ['g --weather bad', "argument 'bad' is invalid. Allowed choices are fixed, open-meteo."],
  ['g --state-key-env NONE', '--state-key-env: the environment variable NONE is not set.'],
  ['g --state-key-env EMPTY', '--state-key-env: the environment variable EMPTY is empty.'],
  ['g --http 1 --token-env NONE', '--token-env: the environment variable NONE is not set.'],
  ['g --http 1 --token-env SHORT', "--token-env: SHORT cannot be read. The token of 'alice' is under 16"],
])('`%s` is refused with what exists or is missing', (line, message) => {
  expect(() => read(line)).toThrow(UsageError);
  expect(() => read(line)).toThrow(message);
});

test('the error does not repeat a secret that stands where a name belongs', () => {
  for (const flag of ['--token-env', '--state-key-env']) {
    const error = new UsageError(`${flag} takes the name of an environment variable, and not what is in it.`);
    expect(() => read(`g --http 1 ${flag} ${SECRET}+/=`)).toThrow(error);
  }
});
