import { expect, test } from 'vitest';
import { headerValue } from './envelope.ts';

test('encodes header values as the specification shows it', () => {
  expect(headerValue('us-west1')).toBe('us-west1');
  expect(headerValue('Hello, 世界')).toBe('=?base64?SGVsbG8sIOS4lueVjA==?=');
  expect(headerValue(' padded ')).toBe('=?base64?IHBhZGRlZCA=?=');
  expect(headerValue('line1\nline2')).toBe('=?base64?bGluZTEKbGluZTI=?=');
  expect(headerValue('=?base64?literal?=')).toBe('=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=');
});
