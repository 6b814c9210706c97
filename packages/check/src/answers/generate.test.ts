import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentThatFitsOnly, invalidContents, validContent } from './generate.ts';
import { fits } from './schema.ts';

const FIELDS = [
  { type: 'string' },
  ...['email', 'uri', 'date', 'date-time'].map((format) => ({ type: 'string', format })),
  ...[0, 5].map((minLength) => ({ type: 'string', minLength, maxLength: 5 })),
  ...['integer', 'number'].flatMap((type) =>
    [-50, 5, 7].map((maximum) => ({ type, minimum: Math.min(5, maximum), maximum })),
  ),
  { type: 'boolean' },
  { type: 'string', enum: ['a', 'b', 'c'] },
  { type: 'string', oneOf: [{ const: 'x', title: 'X' }, { const: 'y' }] },
  { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 },
  { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }, { const: 'y' }] } },
];

const form = fc.subarray(FIELDS, { minLength: 1, maxLength: 4 }).map((fields) => ({
  type: 'object',
  properties: Object.fromEntries(fields.entries()),
  required: [...fields.keys()].map(String),
}));

describe('contents for any form', () => {
  test('a valid content fits, and is the same for the same seed', () => {
    fc.assert(
      fc.property(form, fc.nat(), (schema, seed) => {
        const content = validContent(schema, seed);
        expect(validContent(schema, seed)).toEqual(content);
        return fits(schema, content);
      }),
    );
  });

  test('no invalid content fits, and there are some', () => {
    fc.assert(
      fc.property(form, fc.nat(), (schema, seed) => {
        const misfits = invalidContents(schema, seed);
        return misfits.length > 0 && misfits.every(({ content }) => !fits(schema, content));
      }),
    );
  });
});

test('a misfit says what is wrong with it', () => {
  const age = { type: 'integer', minimum: 18, maximum: 99 };
  const schema = { type: 'object', properties: { age }, required: ['age'] };
  expect(invalidContents(schema, 1).map(({ why }) => why)).toEqual(
    expect.arrayContaining(['age is above 99', 'age is below 18', 'age is no integer', 'age is a string']),
  );
});

describe('contents for the form of a hostile server', () => {
  test.each([
    ['texts without end', { type: 'string', minLength: 1e9, maxLength: 1e9 }],
    ['lists without end', { type: 'array', minItems: 1e9, items: { type: 'string' } }],
    ['more choices than there are', { type: 'array', minItems: 9, items: { enum: ['a', 'b'] } }],
    ['two different truths', { type: 'array', minItems: 2, items: { type: 'boolean' } }],
    ['a number between bounds that cross', { type: 'number', minimum: 1e308, maximum: -1e308 }],
    ['a whole number between two neighbours', { type: 'integer', minimum: 0.2, maximum: 0.8 }],
    ['whole numbers that are none', { type: 'integer', minimum: 1e308 }],
    ['lengths that are none', { type: 'string', minLength: -1.5, maxLength: -1 }],
    ['a multiple of almost nothing', { type: 'number', multipleOf: 1e-320 }],
    ['a pattern', { type: 'string', pattern: '^[A-Z]{3}$' }],
  ])('are made where it wants %s, and fit where it may be left out', (_what, one) => {
    const optional = { type: 'object', properties: { one, sure: { type: 'boolean' } } };
    expect(validContent(optional, 1)).toHaveProperty('sure', true);
    expect(fits(optional, validContent(optional, 1))).toBe(true);
    const schema = { type: 'object', properties: { one }, required: ['one'] };
    expect(JSON.stringify([validContent(schema, 1), invalidContents(schema, 1)]).length).toBeLessThan(50_000);
  });
});

const sizes = (...choices: readonly string[]) => ({
  type: 'object',
  properties: { size: { type: 'string', enum: choices }, note: { type: 'string' } },
});

test.each([
  ['no other choices', sizes('S', 'L'), null],
  ['one choice fewer, not the honest one', sizes('L'), { size: 'S', note: 'n' }],
  ['one choice fewer, the honest one', sizes('S'), { size: 'L', note: 'n' }],
])('a content that a version with %s does not allow', (_, other, content) => {
  const honest = { size: 'L', note: 'n' };
  expect(contentThatFitsOnly(sizes('S', 'L'), other, honest, 1)).toEqual(content);
});
