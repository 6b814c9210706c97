import { expect, test } from 'vitest';
import { HELP, readArgs, UsageError } from './args.ts';

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

test('a demo that can be run in one way only is a name', () => {
  expect(readArgs(['sticky'])).toEqual({ kind: 'fixed', name: 'sticky' });
  expect(readArgs(['tracing'])).toEqual({ kind: 'fixed', name: 'tracing' });
});

test('what exists is all that can be run', () => {
  expect(() => readArgs(['nope'])).toThrow(
    /, prompt-and-resource, sampling-and-roots, sticky, tracing, all\.$/,
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
    "Unknown option '--fast'. Options: --tool, --shape, --client, --hosting, --answer, --legacy, --json,",
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
  ['all --answer ask', "'ask' goes with one demo, not with 'all'."],
])('`%s` is refused with what exists', (line, message) => {
  const read = () => readArgs(line === '' ? [] : line.split(' '));
  expect(read).toThrow(UsageError);
  expect(read).toThrow(message);
});
