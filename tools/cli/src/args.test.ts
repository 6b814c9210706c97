import { InvalidDatabase } from '@mrtr/postgres-server/database';
import { expect, test } from 'vitest';
import { readArgs, type Settings } from './args.ts';
import { DEMOS } from './catalog.ts';
import { UsageError } from './command-line.ts';
import { readServerCall } from './server-call.ts';
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
  if (!asked) throw new Error(`'${line}' asks for no demo.`);
  return { name: asked.demo.name, ...asked.settings };
}

test('a name alone runs with the defaults; an option goes by its package, its letter or its word', () => {
  for (const name of ['option-g', 'g', 'tool-builder']) {
    expect(read(name)).toEqual({ name: 'option-g', ...DEFAULTS });
  }
});

test('everything can be chosen, and a literal -- is ignored', () => {
  const line = 'option-a --client=legacy -- --legacy degrade --tool work-item --hosting fleet --json';
  expect(read(line)).toEqual({
    name: 'option-a',
    client: 'legacy',
    legacy: 'degrade',
    tool: 'work-item',
    hosting: 'fleet',
    answer: 'metric',
    format: 'json',
  });
  expect(read('sampling-and-roots --shape j')).toMatchObject({ shape: 'j' });
  expect(read('basic --mermaid')).toMatchObject({ format: 'mermaid' });
});

const LOCAL = 'postgres://ada:secret@127.0.0.1/calls';

test('H keeps its calls in a new database, in the one of the variable, or in a given one', () => {
  const databaseOf = (line: string, env = {}) => read(line, env).database;
  expect(databaseOf('option-h --postgres')).toEqual({ url: undefined });
  expect(databaseOf('option-h --postgres', { MRTR_POSTGRES: LOCAL })).toEqual({ url: LOCAL });
  const named = `option-h --postgres ${LOCAL}`;
  expect(databaseOf(named, { MRTR_POSTGRES: 'postgresql://elsewhere/calls' })).toEqual({ url: LOCAL });
  expect(databaseOf('option-h', { MRTR_POSTGRES: LOCAL })).toBeUndefined();
});

test('the error does not repeat a wrong connection string: it may be a password', () => {
  const message = 'takes a connection string: postgres://user:password@host:port/database.';
  const error = (where: string) => new InvalidDatabase(`${where} ${message}`);
  expect(() => read('option-h --postgres secret')).toThrow(error('--postgres'));
  expect(() => read('option-h --postgres mysql://a:secret@b/c')).toThrow(error('--postgres'));
  expect(() => read('option-h --postgres', { MRTR_POSTGRES: 'secret' })).toThrow(error('MRTR_POSTGRES'));
});

test('--help fits a terminal of 80 columns, and names every demo, or the options of one', () => {
  const helpOf = (line: string, read: typeof readArgs | typeof readServerCall = readArgs) => {
    const terminal = terminalWith();
    expect(read(line.split(' '), terminal)).toBeUndefined();
    const { out } = terminal.said();
    for (const row of out.split('\n')) expect(row.length).toBeLessThanOrEqual(80);
    return out;
  };
  expect(helpOf('--help')).toMatch(/^Usage: pnpm demo <name> \[options\]\n[\s\S]+\n {2}tracing +a call's/);
  expect(helpOf('option-h -h')).toMatch(/--hosting[\s\S]+--postgres[\s\S]+--deploy[\s\S]+Answers:/);
  expect(helpOf('approve --help')).toContain('one shape alone; without it, g and j');
  expect(helpOf('--server x --help', readServerCall)).toContain('--arguments <json>');
});

test('without a name, the error names every demo, with its title', () => {
  const names = DEMOS.map(({ name, title }) => expect.stringMatching(`^  ${name} +${title}$`));
  try {
    read('');
  } catch (error) {
    expect((error as Error).message.trimEnd().split('\n').slice(2)).toEqual(names);
  }
  expect.assertions(1);
});

test.each([
  ['', 'Name one of them, as in `pnpm demo basic`.'],
  ['nope', "Unknown command 'nope'."],
  ['optoin-g', "Unknown command 'optoin-g'. (Did you mean option-g?)"],
  ['basic --jsom', "Unknown option '--jsom'. (Did you mean --json?)"],
  ['basic --client', "Option '--client <kind>' argument missing."],
  ['basic --client ancient', "'ancient' is invalid. Allowed choices are modern, legacy, modern-only."],
  ['basic --json --mermaid', "Option '--json' cannot be used with option '--mermaid'."],
  ['basic option-a', 'Too many arguments'],
  ['basic --tool weather', "Unknown option '--tool'."],
  ['prompt-and-resource --shape g', 'Allowed choices are f, h, i, j.'],
  ['approve --client legacy', "Unknown option '--client'."],
  ['sampling-and-roots --answer ask', "Unknown option '--answer'."],
  ['option-g --deploy reworded --client legacy', "'--deploy <change>' cannot be used with option '--client"],
  ['tracing --json', "Unknown option '--json'."],
  ['option-j --postgres', "Unknown option '--postgres'."],
])('`%s` is rejected with what exists', (line, message) => {
  expect(() => read(line)).toThrow(UsageError);
  expect(() => read(line)).toThrow(message);
});
