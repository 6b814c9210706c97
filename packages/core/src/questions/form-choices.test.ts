import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { InvalidDefinition } from '../errors.ts';
import { type Elicitation, elicitation } from './elicitation.ts';

/** The same form in each library, with each kind of choice, and with a text and a number. */
const FORMS: [string, StandardSchemaWithJSON][] = [
  [
    'zod',
    z.object({
      units: z.enum(['imperial', 'metric']),
      speed: z.union([z.literal('fast'), z.literal('slow')]).optional(),
      place: z.literal('here'),
      note: z.string().max(20).optional(),
      count: z.int().min(1).max(9),
      extras: z.array(z.union([z.literal('ice'), z.literal('straw')])),
    }),
  ],
  [
    'Valibot',
    toStandardJsonSchema(
      v.object({
        units: v.picklist(['imperial', 'metric']),
        speed: v.optional(v.union([v.literal('fast'), v.literal('slow')])),
        place: v.literal('here'),
        note: v.optional(v.pipe(v.string(), v.maxLength(20))),
        count: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9)),
        extras: v.array(v.union([v.literal('ice'), v.literal('straw')])),
      }),
    ),
  ],
  [
    'ArkType',
    type({
      units: "'imperial' | 'metric'",
      'speed?': "'fast' | 'slow'",
      place: "'here'",
      'note?': 'string <= 20',
      count: '1 <= number.integer <= 9',
      extras: "('ice' | 'straw')[]",
    }),
  ],
];

const formOf = ({ request }: Elicitation) =>
  (request.params as { readonly requestedSchema: Record<string, unknown> }).requestedSchema;
const propertiesOf = (schema: StandardSchemaWithJSON) => formOf(elicitation('Which?', schema)).properties;

test.each(FORMS)('a schema of %s gives the form, and reads what fits it', (_library, schema) => {
  const question = elicitation('How do you want it?', schema);
  const { properties, required } = formOf(question);
  expect(properties).toEqual({
    units: { type: 'string', enum: ['imperial', 'metric'] },
    speed: { type: 'string', enum: ['fast', 'slow'] },
    place: { type: 'string', enum: ['here'] },
    note: { type: 'string', maxLength: 20 },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    extras: { type: 'array', items: { type: 'string', enum: ['ice', 'straw'] } },
  });
  expect(new Set(required as string[])).toEqual(new Set(['units', 'place', 'count', 'extras']));
  const content = { units: 'metric', place: 'here', count: 2, extras: ['ice'] };
  const accept = (other: object) => question.read({ action: 'accept', content: { ...content, ...other } });
  expect(accept({ speed: 'slow' })).toEqual({ kind: 'accepted', value: { ...content, speed: 'slow' } });
  for (const wrong of [{ units: 'kelvin' }, { speed: 'medium' }, { place: 'there' }, { extras: ['fire'] }]) {
    expect(accept(wrong)).toMatchObject({ kind: 'invalid' });
  }
});

test('titles and descriptions of choices stay, where all choices have a title', () => {
  const size = z.union([z.literal('s').meta({ title: 'Small' }), z.literal('l').meta({ title: 'Large' })]);
  expect(propertiesOf(z.object({ size: size.meta({ description: 'How large.' }) }))).toEqual({
    size: {
      type: 'string',
      description: 'How large.',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
    },
  });
  expect(propertiesOf(z.object({ sizes: z.array(size) }))).toEqual({
    sizes: {
      type: 'array',
      items: {
        anyOf: [
          { const: 's', title: 'Small' },
          { const: 'l', title: 'Large' },
        ],
      },
    },
  });
  const half = z.union([z.literal('s').meta({ title: 'Small' }), z.literal('l')]);
  expect(propertiesOf(z.object({ half }))).toEqual({ half: { type: 'string', enum: ['s', 'l'] } });
  expect(propertiesOf(type({ units: type("'a' | 'b'").configure({ description: 'a or b' }) }))).toEqual({
    units: { type: 'string', description: 'a or b', enum: ['a', 'b'] },
  });
});

test.each<[string, StandardSchemaWithJSON, string]>([
  ['a choice of numbers', type({ level: '1 | 2' }), 'properties.level'],
  ['a text or null', type({ note: 'string | null' }), 'properties.note'],
  ['a text or a number', z.object({ id: z.union([z.literal('a'), z.literal(1)]) }), 'properties.id'],
  ['a pattern', type({ day: 'string.date.iso' }), 'properties.day.pattern'],
  ['an object', type({ address: { street: 'string' } }), 'properties.address'],
  ['no JSON Schema', z.object({ day: z.date() }), 'Date cannot be represented in JSON Schema'],
])('a schema with %s is rejected with the field, and with what to do', (_what, schema, named) => {
  const askWhen = () => elicitation('When?', schema);
  expect(askWhen).toThrow(InvalidDefinition);
  expect(askWhen).toThrow('The schema of "When?" cannot be a form.');
  expect(askWhen).toThrow(
    `${named}. Ask for text, numbers, yes or no, or a choice of texts, one field for each, and check`,
  );
});
