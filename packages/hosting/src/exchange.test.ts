import { expect, test, vi } from 'vitest';
import { whenSent } from './exchange.ts';

const REQUEST = new Request('http://localhost/mcp');

test('an answer that breaks is over, and breaks for its client too', async () => {
  const done = vi.fn();
  const broken = new ReadableStream({
    pull: () => Promise.reject(new Error('broken')),
  });
  const response = whenSent(REQUEST, new Response(broken), done);
  expect(done).not.toHaveBeenCalled();
  await expect(response.text()).rejects.toThrow('broken');
  expect(done).toHaveBeenCalledOnce();
});

test('an answer is over when it has been sent, and an empty one at once', async () => {
  const done = vi.fn();
  await whenSent(REQUEST, new Response('sent'), done).text();
  expect(done).toHaveBeenCalledTimes(1);
  whenSent(REQUEST, new Response(null), done);
  expect(done).toHaveBeenCalledTimes(2);
});
