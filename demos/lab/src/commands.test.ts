/** Commands, and everything beside them that a page could send in their place. */
import { expect, test } from 'vitest';
import { COMMANDS } from './commands.test-support.ts';
import { type Command, readCommand } from './commands.ts';

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

/** Where a person may write what they like, in bounds. */
const FREE = [
  'reply.content.resolution',
  'fault.state',
  'fault.unasked.key',
  'fault.unasked.content.resolution',
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

const OPTIONAL = ['reply.content', 'fault.to', 'fault.state', 'fault.unasked'];
/** Keys are the person's own in here. */
const OPEN = ['reply.content', 'fault.unasked.content'];

test.each(Object.values(COMMANDS))('no place of the command $do can name something else', (command) => {
  const paths = pathsIn(command);
  for (const path of paths) {
    const name = path.join('.');
    const takes = (value: unknown) => read(withAt(command, path, value)) !== undefined;
    const isOwn = OPEN.some((open) => name.startsWith(`${open}.`));
    expect(takes(undefined), `without ${name}`).toBe(isOwn || OPTIONAL.includes(name));
    const some = OPEN.includes(name) ? [{}, { length: 1 }] : [];
    if (!FREE.includes(name)) expect(VALUES.filter(takes), name).toEqual(some);
  }
  for (const path of [[], ...paths]) {
    const inside = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], command);
    if (typeof inside !== 'object' || OPEN.includes(path.join('.'))) continue;
    for (const member of ['pid', 'path', 'url', 'command', 'module', '__proto__'])
      expect(read(withAt(command, [...path, member], 'i1')), `${path}, ${member}`).toBeUndefined();
  }
});

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, 'x']));
const { answer, fault, 'set-up': setUp } = COMMANDS;
const x = (length: number) => 'x'.repeat(length);

test.each<[where: string, command: Command, taken: readonly unknown[], refused: readonly unknown[]]>([
  [
    'reply.content',
    answer,
    [{ a: x(200), b: 1, c: true, d: Array(20).fill('x') }, many(20)],
    [many(21), { a: x(201) }, { [x(61)]: 'x' }, { a: Array(21).fill('x') }, { a: [x(201)] }],
  ],
  ['reply.content.a', answer, ['x', 1, true, ['x']], [null, {}, [1], [['x']], { toString: 'x' }]],
  ['fault.unasked.content', fault, [many(20)], [many(21), { a: {} }]],
  ['fault.unasked.key', fault, ['x', x(60)], ['', x(61), 1, null]],
  ['fault.state', fault, ['', x(20_000)], [LONG, 1, null]],
  ['question', answer, [1, 99], [0, 100, 1.5, '1']],
  ['setUp.option', setUp, ['a', `a${x(20)}`], [`a${x(21)}`, 'A', '-a', 'a/b', 'a.b', 'a\n']],
])('what a person may write as %s is bounded', (where, command, taken, refused) => {
  const isRead = (value: unknown) => read(withAt(command, where.split('.'), value)) !== undefined;
  expect(taken.map(isRead)).toEqual(taken.map(() => true));
  expect(refused.map(isRead)).toEqual(refused.map(() => false));
});
