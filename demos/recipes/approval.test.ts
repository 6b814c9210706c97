import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createPage } from './approval.ts';
import { type Bank, openBank, userOf } from './bank.test-support.ts';

let bank: Bank;
beforeAll(async () => {
  bank = await openBank((policy, url) => createPage(policy, url, userOf));
});
afterAll(() => bank.close());

test('a payment is made when its user has approved on the page', async () => {
  const { message, link, answer } = await bank.pay(120);
  expect(message()).toMatch(/^Pay € “120” to “Bob”\?\n/);
  await bank.press(link);
  expect(await answer()).toMatch(/^Paid € 120 to Bob, approved as [\w-]{22}\.$/);
});

test('a payment is not made when its user refuses on the page', async () => {
  const { link, answer } = await bank.pay(121);
  await bank.press(link, 'refuse');
  expect(await answer()).toBe("Cancelled: the question 'sure' was not answered.");
});

test('a small payment is approved in a form, by the affirmative choice only', async () => {
  const { message, answer } = await bank.pay(9);
  expect(await answer()).toBeUndefined();
  expect(message()).toBe(
    'Pay € “9” to “Bob”?\n\nThe form came back empty. “Nothing was chosen that approves or refuses.”',
  );
  const approved = { action: 'accept', content: { decision: 'approve' } } as const;
  expect(await answer({ sure: approved })).toMatch(/^Paid € 9 to Bob/);
});

test.each<[string, string, Record<string, string>, number]>([
  ['a page that does not exist', '/approve/nowhere', {}, 404],
  ['a page of another website', '/approve/start', { origin: 'https://evil.example' }, 403],
  ['a browser that is not signed in', '/approve/start', {}, 401],
])('nothing is read that is posted by or to %s', async (_who, path, headers, status) => {
  const { origin } = bank.site();
  const sent = request(new URL(path, origin), {
    method: 'POST',
    headers: { origin, ...headers, 'content-length': 9 },
  });
  onTestFinished(() => void sent.on('error', () => {}).destroy());
  sent.flushHeaders();
  const [response] = await once(sent, 'response');
  expect(response.statusCode).toBe(status);
});
