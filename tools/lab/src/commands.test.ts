/** The check of commands, with valid ones and with altered ones. */
import { expect, test } from 'vitest';
import { COMMANDS } from './commands.test-support.ts';
import { readCommand } from './commands.ts';

const read = (command: unknown) => readCommand(JSON.stringify(command));

test.each([
  ...Object.values(COMMANDS),
  { do: 'set-up', side: 'right', setUp: { ...COMMANDS['set-up'].setUp, option: 'h-postgres' } },
  { do: 'answer', side: 'left', question: 2, reply: 'silence' },
  { do: 'set-up', side: 'right', setUp: { ...COMMANDS['set-up'].setUp, option: 'g', tool: 'order' } },
  { do: 'answer', side: 'left', question: 99, reply: { action: 'cancel' } },
  { do: 'fault', side: 'left', fault: { deliver: 'once' } },
])('$do is a command', (command) => {
  expect(read(command)).toEqual(command);
});

/** The places for free text. */
const FREE = [
  'reply.content.resolution',
  'fault.state',
  'fault.unasked.key',
  'fault.unasked.content.resolution',
  ...['setUp.own', 'own'].flatMap((own) => [`${own}.tool`, `${own}.source`]),
];
const LONG = 'x'.repeat(20_001);
const VALUES: readonly unknown[] = [
  ...['', '1', '../i1', 'file:///etc/passwd', 'http://example.com/', 'i1; rm -rf /', '__proto__', LONG],
  ...[null, -1, 1.5, 1e9, {}, [], [['a']], { a: { b: 1 } }, { length: 1 }],
];

type Path = readonly string[];

function pathsIn(value: unknown): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    [key],
    ...pathsIn(member).map((path) => [key, ...path]),
  ]);
}

/** A copy with another value at `path`; undefined leaves the member out. */
function withAt(command: unknown, [key = '', ...rest]: Path, value: unknown): object {
  const object = command as Readonly<Record<string, unknown>>;
  return { ...object, [key]: rest.length === 0 ? value : withAt(object[key], rest, value) };
}

const OPTIONAL = [
  ...['reply.content', 'isAgent', 'fault.to', 'fault.state', 'fault.unasked'],
  ...['setUp.legacy', 'setUp.own', 'setUp.own.source', 'own', 'own.source', 'arguments'],
];
/** The places for free keys. */
const OPEN = ['reply.content', 'fault.unasked.content'];
/** The arguments of a tool of the user's own, which are any object. */
const ARGUMENTS = /^(?:(?:setUp\.)?own\.)?arguments/;
const OBJECTS = VALUES.filter(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

test.each(Object.values(COMMANDS))('no place of the command $do can name something else', (command) => {
  const paths = pathsIn(command);
  for (const path of paths) {
    const name = path.join('.');
    // Below the arguments, everything is free.
    if (ARGUMENTS.exec(name)?.[0].length !== name.length && ARGUMENTS.test(name)) continue;
    const takes = (value: unknown) => read(withAt(command, path, value)) !== undefined;
    const isOwn = OPEN.some((open) => name.startsWith(`${open}.`));
    expect(takes(undefined), `without ${name}`).toBe(isOwn || OPTIONAL.includes(name));
    const some = ARGUMENTS.test(name) ? OBJECTS : OPEN.includes(name) ? [{}, { length: 1 }] : [];
    if (!FREE.includes(name)) expect(VALUES.filter(takes), name).toEqual(some);
  }
  for (const path of [[], ...paths]) {
    const inside = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], command);
    if (typeof inside !== 'object' || OPEN.includes(path.join('.')) || ARGUMENTS.test(path.join('.')))
      continue;
    for (const member of ['pid', 'path', 'url', 'command', 'module', '__proto__'])
      expect(read(withAt(command, [...path, member], 'i1')), `${path}, ${member}`).toBeUndefined();
  }
});
