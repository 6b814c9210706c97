import { expect, test } from 'vitest';
import { HELP, readArgs } from './args.ts';
import { UsageError } from './usage-error.ts';

const DEFAULTS = {
  tool: 'weather',
  client: 'modern',
  hosting: 'memory',
  answer: 'metric',
  legacy: 'degrade',
  json: false,
};

test('a name alone runs with the defaults', () => {
  expect(readArgs(['option-f'])).toEqual({ kind: 'demo', name: 'option-f', settings: DEFAULTS });
  expect(readArgs(['all'])).toEqual({ kind: 'all', settings: DEFAULTS });
});

test('flags go before or after the name, and a literal -- separates nothing', () => {
  const args =
    '--client=legacy option-a -- --legacy shim --tool work-item --hosting fleet --answer ask --json';
  expect(readArgs(args.split(' '))).toEqual({
    kind: 'demo',
    name: 'option-a',
    settings: {
      client: 'legacy',
      legacy: 'shim',
      tool: 'work-item',
      hosting: 'fleet',
      answer: 'ask',
      json: true,
    },
  });
});

test('a demo in several shapes can be shown in one of them', () => {
  const settings = { ...DEFAULTS, shape: 'j' };
  expect(readArgs(['sampling-and-roots', '--shape', 'j'])).toEqual({
    kind: 'demo',
    name: 'sampling-and-roots',
    settings,
  });
});

const LOCAL = 'postgres://ada:secret@127.0.0.1/calls';

test('H keeps its calls where it is told to: in a database of its own, or one that is named', () => {
  const onStore = (line: string, env = {}) => readArgs(line.split(' '), env);
  const on = (url: string | undefined) => ({
    kind: 'demo',
    name: 'option-h',
    settings: { ...DEFAULTS, database: { url } },
  });
  expect(onStore('option-h --store postgres')).toEqual(on(undefined));
  expect(onStore('option-h --store postgres', { MRTR_POSTGRES: LOCAL })).toEqual(on(LOCAL));
  const named = `option-h --store postgres --postgres ${LOCAL}`;
  expect(onStore(named, { MRTR_POSTGRES: 'postgresql://elsewhere/calls' })).toEqual(on(LOCAL));
  expect(onStore('option-h --store memory', { MRTR_POSTGRES: LOCAL })).toEqual(readArgs(['option-h']));
  expect(onStore(`fleet-of-three --postgres ${LOCAL}`)).toEqual({
    kind: 'fixed',
    name: 'fleet-of-three',
    database: { url: LOCAL },
  });
});

test('what is no connection string is not repeated: it may be a password', () => {
  const message = 'takes a connection string: postgres://user:password@host:port/database.';
  const error = (where: string) => new UsageError(`${where} ${message}`);
  expect(() => readArgs(['fleet-of-three', '--postgres', 'secret'])).toThrow(error('--postgres'));
  expect(() => readArgs(['fleet-of-three', '--postgres', 'mysql://a:secret@b/c'])).toThrow(
    error('--postgres'),
  );
  expect(() => readArgs(['fleet-of-three'], { MRTR_POSTGRES: 'secret' })).toThrow(error('MRTR_POSTGRES'));
});

test('a demo that can be run in one way only is a name', () => {
  expect(readArgs(['sticky'])).toEqual({ kind: 'fixed', name: 'sticky' });
  expect(readArgs(['tracing'])).toEqual({ kind: 'fixed', name: 'tracing' });
});

test('what exists is all that can be run', () => {
  expect(() => readArgs(['nope'])).toThrow(
    /, prompt-and-resource, sampling-and-roots, sticky, fleet-of-three, tracing, all\.$/,
  );
});

test('--help and --list need no name', () => {
  expect(readArgs(['--help'])).toEqual({ kind: 'help' });
  expect(readArgs(['-h', 'basic'])).toEqual({ kind: 'help' });
  expect(readArgs(['--list'])).toEqual({ kind: 'list' });
});

test('the help fits a terminal of 80 columns', () => {
  for (const line of HELP.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test.each([
  ['', 'Which demo? Names: basic, basic-multiround, option-a,'],
  ['nope', "There is no demo 'nope'. Names: basic, basic-multiround, option-a,"],
  ['toString', "There is no demo 'toString'."],
  [
    'basic --fast',
    "Unknown option '--fast'. Options: --tool, --shape, --client, --hosting, --answer, --legacy, --store, --postgres, --json,",
  ],
  ['basic -x', "Unknown option '-x'. Options:"],
  ['basic --json=yes', "Option '--json' does not take an argument. Options:"],
  ['basic --client', "Option '--client <value>' argument missing. Options:"],
  ['basic --client ancient', "--client cannot be 'ancient'. Values: modern, legacy, modern-only."],
  ['option-a --tool hammer', "--tool cannot be 'hammer'. Values: weather, work-item."],
  ['all --hosting moon', "--hosting cannot be 'moon'. Values: memory, fleet."],
  ['all --answer yes', "--answer cannot be 'yes'. Values: metric, imperial, decline, cancel, nonsense, ask."],
  ['all --legacy maybe', "--legacy cannot be 'maybe'. Values: shim, degrade."],
  ['basic option-a', "One demo at a time: 'option-a' is one too many."],
  ['basic --tool weather', "'basic' is no option: --tool goes with the options."],
  ['prompt-and-resource --tool weather', "'prompt-and-resource' is no option: --tool goes with the options."],
  ['prompt-and-resource --shape g', "--shape cannot be 'g'. Values: f, h, i, j."],
  ['sampling-and-roots --shape f', "--shape cannot be 'f'. Values: i, j."],
  ['option-f --shape f', "'option-f' is not in several shapes: --shape goes with prompt-and-resource and"],
  ['all --shape f', "'all' is not in several shapes: --shape goes with prompt-and-resource and"],
  ['sampling-and-roots --answer ask', "'sampling-and-roots' asks a model, and no user: --answer does not go"],
  ['sticky --json', "'sticky' takes no options: '--json' is too much."],
  ['--client legacy tracing', "'tracing' takes no options: '--client' is too much."],
  ['sticky tracing', "One demo at a time: 'tracing' is one too many."],
  ['fleet-of-three --json', "'fleet-of-three' takes no options but --postgres: '--json' is too much."],
  ['sticky --postgres postgres://a/b', "'sticky' takes no options: '--postgres' is too much."],
  ['option-h --store disk', "--store cannot be 'disk'. Values: memory, postgres."],
  ['option-j --store postgres', "'option-j' keeps no calls: --store goes with option-h."],
  ['all --postgres postgres://a/b', "'all' keeps no calls: --postgres goes with option-h."],
  ['option-h --postgres postgres://a/b', '--postgres goes with --store postgres.'],
  ['option-h --store memory --postgres postgres://a/b', '--postgres goes with --store postgres.'],
  ['all --answer ask', "'ask' goes with one demo, not with 'all'."],
])('`%s` is refused with what exists', (line, message) => {
  const read = () => readArgs(line === '' ? [] : line.split(' '));
  expect(read).toThrow(UsageError);
  expect(read).toThrow(message);
});
