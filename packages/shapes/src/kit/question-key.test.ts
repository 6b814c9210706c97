import { elicitation } from '@mrtr/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { questionKey } from './question-key.ts';

const keyOf = (shape: z.core.$ZodShape, ...taken: string[]) =>
  questionKey(elicitation('?', z.object(shape)), (key) => taken.includes(key));

test('a question is named after the fields of its form', () => {
  expect([keyOf({ units: z.string() }), keyOf({ first: z.string(), last: z.string() }), keyOf({})]).toEqual([
    'units',
    'first_last',
    'answer',
  ]);
});

test('a name that is taken gets the next free number', () => {
  const shape = { units: z.string() };
  expect([keyOf(shape, 'units'), keyOf(shape, 'units', 'units-2'), keyOf(shape, 'units-2')]).toEqual([
    'units-2',
    'units-3',
    'units',
  ]);
});
