import { expect, test } from 'vitest';
import { readArgs, type Settings } from './args.ts';
import { UsageError } from './command-line.ts';
import { terminalWith } from './terminal.test-support.ts';

const DEFAULTS: Settings = {
  tool: 'weather',
  client: 'modern',
  hosting: 'memory',
  answer: 'metric',
  legacy: 'shim',
  format: 'drawing',
};

function read(line: string, env = {}) {
  const asked = readArgs(line.split(' ').filter(Boolean), terminalWith('', env));
  if (!asked || !('demo' in asked)) throw new Error(`'${line}' asks for no demo.`);
  return { name: asked.demo.name, ...asked.settings };
}

test('a name alone runs with the defaults', () => {
  expect(read('option-f')).toEqual({ name: 'option-f', ...DEFAULTS });
  expect(read('all')).toEqual({ name: 'all', ...DEFAULTS });
});

test('an option can be named by its package, its letter or its word', () => {
  for (const name of ['option-g', 'g', 'G', 'tool-builder']) expect(read(name).name).toBe('option-g');
});

test('flags may stand before or after the name, and a literal -- is ignored', () => {
  const line =
    '--client=legacy option-a -- --legacy shim --tool work-item --hosting fleet --answer ask --json';
  expect(read(line)).toEqual({
    name: 'option-a',
    client: 'legacy',
    legacy: 'shim',
    tool: 'work-item',
    hosting: 'fleet',
    answer: 'ask',
    format: 'json',
  });
  expect(read('basic --mermaid').format).toBe('mermaid');
});

test('a demo in several shapes can be shown in one of them', () => {
  expect(read('sampling-and-roots --shape j')).toEqual({
    name: 'sampling-and-roots',
    ...DEFAULTS,
    shape: 'j',
  });
});

const LOCAL = 'postgres://ada:secret@127.0.0.1/calls';

test('H keeps its calls in a new database, or in a given one', () => {
  const databaseOf = (line: string, env = {}) => read(line, env).database;
  expect(databaseOf('option-h --store postgres')).toEqual({ url: undefined });
  expect(databaseOf('option-h --store postgres', { MRTR_POSTGRES: LOCAL })).toEqual({ url: LOCAL });
  const named = `option-h --store postgres --postgres ${LOCAL}`;
  expect(databaseOf(named, { MRTR_POSTGRES: 'postgresql://elsewhere/calls' })).toEqual({ url: LOCAL });
  expect(databaseOf('option-h --store memory', { MRTR_POSTGRES: LOCAL })).toBeUndefined();
  expect(databaseOf(`fleet-of-three --postgres ${LOCAL}`)).toEqual({ url: LOCAL });
  expect(databaseOf('sticky', { MRTR_POSTGRES: LOCAL })).toBeUndefined();
});

test('the error does not repeat a wrong connection string: it may be a password', () => {
  const message = 'takes a connection string: postgres://user:password@host:port/database.';
  const error = (where: string) => new UsageError(`${where} ${message}`);
  expect(() => read('fleet-of-three --postgres secret')).toThrow(error('--postgres'));
  expect(() => read('fleet-of-three --postgres mysql://a:secret@b/c')).toThrow(error('--postgres'));
  expect(() => read('fleet-of-three', { MRTR_POSTGRES: 'secret' })).toThrow(error('MRTR_POSTGRES'));
});

test('--list needs no name, and neither does --help, which fits a terminal of 80 columns', () => {
  expect(readArgs(['--list'], terminalWith())).toEqual({ list: true });
  const terminal = terminalWith();
  expect(readArgs(['-h', 'basic'], terminal)).toBeUndefined();
  const { out: help } = terminal.said();
  expect(help).toMatch(/^Usage: pnpm demo <name> \[options\]\n/);
  for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test.each([
  ['', 'Which demo? Names: basic, basic-multiround, option-a,'],
  ['nope', "There is no demo 'nope'. Names: basic, basic-multiround, option-a,"],
  [
    'nope',
    /, prompt-and-resource, sampling-and-roots, link-account, approve, sticky, fleet-of-three, tracing, all\.$/,
  ],
  ['toString', "There is no demo 'toString'. Names:"],
  ['optoin-g', "There is no demo 'optoin-g'. (Did you mean option-g?) Names:"],
  ['BASICS', '(Did you mean basic?)'],
  [
    'basic --frobnicate',
    "Unknown option '--frobnicate'. Options: --tool, --shape, --client, --hosting, --answer,",
  ],
  ['basic --jsom', "Unknown option '--jsom'. (Did you mean --json?) Options:"],
  ['basic -x', "Unknown option '-x'. Options:"],
  ['basic --json=yes', "Unknown option '--json=yes'."],
  ['basic --client', "Option '--client <kind>' argument missing."],
  [
    'basic --client ancient',
    "argument 'ancient' is invalid. Allowed choices are modern, legacy, modern-only.",
  ],
  ['basic --json --mermaid', "Option '--json' cannot be used with option '--mermaid'."],
  ['basic option-a', "Run one demo at a time; remove 'option-a'."],
  [
    'basic --tool weather',
    "'basic' takes only --client, --hosting, --answer, --legacy, --json, --mermaid; remove --tool.",
  ],
  ['prompt-and-resource --tool weather', 'remove --tool.'],
  ['prompt-and-resource --shape g', "--shape cannot be 'g'. Values: f, h, i, j."],
  ['sampling-and-roots --shape f', "--shape cannot be 'f'. Values: i, j."],
  ['link-account --client legacy', 'remove --client.'],
  ['option-f --shape f', "'option-f' takes only --tool, --client,"],
  ['sampling-and-roots --answer ask', 'remove --answer.'],
  ['basic --deploy reworded', 'remove --deploy.'],
  ['option-g --deploy reworded --client legacy', "'option-g --deploy' takes only --deploy, --store,"],
  ['sticky --json', "'sticky' takes no options; remove --json."],
  ['--client legacy tracing', "'tracing' takes no options; remove --client."],
  ['fleet-of-three --json', "'fleet-of-three' takes only --postgres; remove --json."],
  ['option-j --store postgres', 'remove --store.'],
  ['all --postgres postgres://a/b', 'remove --postgres.'],
  ['all --mermaid', 'remove --mermaid.'],
  ['option-h --postgres postgres://a/b', '--postgres goes with --store postgres.'],
  ['all --answer ask', "'ask' goes with one demo, not with 'all'."],
])('`%s` is refused with what exists', (line, message) => {
  expect(() => read(line)).toThrow(UsageError);
  expect(() => read(line)).toThrow(message);
});
