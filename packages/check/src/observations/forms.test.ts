import { expect, test } from 'vitest';
import { formText } from './forms.ts';

const withField = (field: object) => ({
  params: { message: 'Sure?', requestedSchema: { type: 'object', properties: { sure: field } } },
});
const titled = { type: 'string', oneOf: [{ const: 'y', title: 'Yes' }] };

test('a form is the same in the spelling of old clients, and another one with other titles', () => {
  const old = (title: string) => formText(withField({ type: 'string', enum: ['y'], enumNames: [title] }));
  expect(old('Yes')).toBe(formText(withField(titled)));
  expect(old('No')).not.toBe(formText(withField(titled)));
});
