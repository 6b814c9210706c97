import { expect, test } from 'vitest';
import { formText } from './forms.ts';

const withField = (field: object) => ({
  params: { message: 'Sure?', requestedSchema: { type: 'object', properties: { sure: field } } },
});
const titled = { type: 'string', oneOf: [{ const: 'y', title: 'Yes' }] };

test('a form in the spelling of old clients is the same, and a form with other titles differs', () => {
  const old = (title: string) => formText(withField({ type: 'string', enum: ['y'], enumNames: [title] }));
  expect(old('Yes')).toBe(formText(withField(titled)));
  expect(old('No')).not.toBe(formText(withField(titled)));
});
