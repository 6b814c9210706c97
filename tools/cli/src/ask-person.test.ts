import { PassThrough } from 'node:stream';
import { Writer } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import { personAt } from './ask-person.ts';
import { describeAllowed, parseTyped, promptOf } from './form-field.ts';
import { terminalWith } from './terminal.test-support.ts';

const units = {
  message: 'Which units?',
  requestedSchema: {
    type: 'object',
    properties: { units: { type: 'string', enum: ['metric', 'imperial'] } },
  },
};
const several = {
  message: 'Tell us.',
  requestedSchema: {
    properties: {
      sure: { type: 'boolean' },
      many: { type: 'integer', minimum: 1, maximum: 9 },
      note: { type: 'string' },
    },
  },
};

/** A person who types `text`. */
function typing(text: string) {
  const { stdin, stdout, said } = terminalWith(text);
  const { user } = personAt({ input: stdin, output: stdout, interrupted: () => {} });
  return { user, printed: () => said().out };
}

test('each line answers one question and goes out unchanged, whether it fits or not', async () => {
  const { user, printed } = typing('furlongs\n metric \n');
  expect(await user(units)).toEqual({ action: 'accept', content: { units: 'furlongs' } });
  expect(await user(units)).toEqual({ action: 'accept', content: { units: 'metric' } });
  expect(printed()).toContain(
    'Which units?\n    ┆  units (1 metric | 2 imperial; decline, cancel): furlongs\n',
  );
});

test('decline and cancel refuse the question, and so does the end of input, each time', async () => {
  const { user } = typing('DECLINE\ncancel\n');
  expect(await user(units)).toEqual({ action: 'decline' });
  expect(await user(units)).toEqual({ action: 'cancel' });
  expect(await user(units)).toEqual({ action: 'cancel' });
  expect(await user(units)).toEqual({ action: 'cancel' });
});

test('a form is filled field by field, and text that parses as its field’s type is converted', async () => {
  const { user } = typing('yes\n7\nhello\nperhaps\nmany\n\n');
  expect(await user(several)).toEqual({ action: 'accept', content: { sure: true, many: 7, note: 'hello' } });
  expect(await user(several)).toEqual({ action: 'accept', content: { sure: 'perhaps', many: 'many' } });
});

test('a question cannot send commands to the terminal', async () => {
  const { user, printed } = typing('\u001b[2J\n');
  await user({ message: '\u001b[2Jx', requestedSchema: { properties: { '\u001b': { enum: ['\u001b'] } } } });
  expect(printed()).not.toContain('\u001b');
});

const HEROES = [
  { const: 'hero-1', title: 'Superman' },
  { const: 'hero-2', title: 'Green Lantern' },
];
const PETS = { enum: ['pet-1', '1'], enumNames: ['Cats', 'Dogs'] };

test.each([
  [{ type: 'string', enum: ['metric', 'imperial'] }, '1 metric | 2 imperial'],
  [{ type: 'boolean' }, 'yes | no'],
  [{ type: 'integer', minimum: 1, maximum: 99999 }, 'whole number from 1 to 99999'],
  [{ type: 'number' }, 'number'],
  [{ type: 'string' }, 'text'],
  [{ type: 'string', format: 'date' }, 'date'],
  [{ type: 'array', items: PETS }, 'several, with commas: 1 Cats | 2 Dogs'],
])('a field %j allows: %s', (field, allowed) => {
  expect(describeAllowed(field)).toBe(allowed);
});

test('a field shows its title, its description, whether it is required, the titles of its choices, and its default', () => {
  const field = { title: 'Hero', description: 'Your favourite', oneOf: HEROES, default: 'hero-2' };
  expect(promptOf('hero', field, true)).toBe(
    'Hero – Your favourite, required (1 Superman | 2 Green Lantern; decline, cancel) [Green Lantern]: ',
  );
});

test.each([
  [{ oneOf: HEROES }, 'superman', 'hero-1'],
  [{ oneOf: HEROES }, 'HERO-2', 'hero-2'],
  [{ oneOf: HEROES }, '2', 'hero-2'],
  [{ oneOf: HEROES }, '3', '3'],
  [PETS, '1', '1'],
  [PETS, 'dogs', '1'],
  [{ type: 'array', items: { anyOf: HEROES } }, '2, Superman,nobody', ['hero-2', 'hero-1', 'nobody']],
  [{ type: 'array', items: PETS, default: ['1'] }, '', ['1']],
  [{ type: 'integer', default: 42 }, '', 42],
  [{ type: 'boolean' }, 'Y', true],
  [{ type: 'boolean' }, 'No', false],
  [{ type: 'string' }, '', undefined],
] as const)('in a field %j, %j means %j', (field, text, value) => {
  expect(parseTyped(field, text)).toEqual(value);
});

test('a question without a field is not accepted before its person has said so', async () => {
  const { user } = typing('no\nyes\n');
  const empty = { message: 'Proceed?', requestedSchema: { type: 'object', properties: {} } };
  expect([await user(empty), await user(empty)]).toEqual([{ action: 'decline' }, { action: 'accept' }]);
});

test('Ctrl-C at a question interrupts and is not an answer', async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const screen = { isTTY: true };
  const interrupts: string[] = [];
  const { user } = personAt({
    input: Object.assign(input, screen, { setRawMode: () => input }),
    output: new Writer(Object.assign(output, screen, { columns: 80 })),
    interrupted: () => interrupts.push('SIGINT'),
  });
  const answer = user(units);
  input.write('met\u0003');
  expect(await answer).toEqual({ action: 'cancel' });
  expect(interrupts).toEqual(['SIGINT']);
});

test('a page is shown in full, and its person agrees to open it, declines, or cancels', async () => {
  const { user, printed } = typing('yes\ndecline\nno\ncancel\n');
  const open = () => user.open?.({ message: 'Sign in.', url: 'https://example.com/auth?env=prod' });
  const replies = [await open(), await open(), await open(), await open(), await open()];
  expect(replies.map((reply) => (reply as { action: string }).action)).toEqual([
    'accept',
    'decline',
    'decline',
    'cancel',
    'cancel',
  ]);
  expect(printed()).toContain('Sign in.\n    ┆  https://example.com/auth?env=prod\n');
});
