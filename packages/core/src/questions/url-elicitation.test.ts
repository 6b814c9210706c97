import { expect, test } from 'vitest';
import { InvalidOption } from '../errors.ts';
import { urlElicitation } from './url-elicitation.ts';

const terms = urlElicitation('Read the terms.', 'https://shop.example/terms');

test('goes out as the SDK writes it, without the id of the older revision', () => {
  expect(terms.request).toEqual({
    method: 'elicitation/create',
    params: { mode: 'url', message: 'Read the terms.', url: 'https://shop.example/terms' },
  });
  expect(terms.kind).toBe('elicitation.url');
  expect(terms.digest).not.toBe(urlElicitation('Read the terms.', 'https://shop.example/others').digest);
});

test.each([
  [{ action: 'accept' }, { kind: 'accepted', value: true }],
  [
    { action: 'accept', content: { value: false } },
    { kind: 'accepted', value: true },
  ],
  [{ action: 'decline' }, { kind: 'declined' }],
  [{ action: 'cancel' }, { kind: 'cancelled' }],
  [undefined, { kind: 'missing' }],
  [{ roots: [] }, { kind: 'missing' }],
])('reads %j as %j', (response, answer) => {
  expect(terms.read(response)).toEqual(answer);
});

test('keeps the action of a response and nothing else', () => {
  expect(terms.keep({ action: 'accept', content: { token: 'secret' } })).toEqual({ action: 'accept' });
});

test.each([
  '',
  'shop.example',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://ada:secret@shop.example/',
])('rejects the address %s, and does not repeat it', (url) => {
  const rejected = new InvalidOption(
    'A page needs a whole address, https://… or http://…, without a user name or a password.',
  );
  expect(() => urlElicitation('Open it.', url)).toThrow(rejected);
});
