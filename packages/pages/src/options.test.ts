/** Wrong options of this package, as JavaScript or an unset environment variable gives them. */
import { InvalidOption, requestStatePolicy } from '@mrtr/core';
import { expect, test } from 'vitest';
import { approvalPage } from './approval-page.ts';
import { MemoryInteractions } from './memory-interactions.ts';
import { pendingInteractions } from './pending-interactions.ts';
import { interactionLimits } from './store.ts';

const atLeast1 = 'must be a whole number of at least 1';

const link = {
  policy: requestStatePolicy(),
  url: 'https://shop.example/link',
  identifyBrowser: () => undefined,
  start: () => 'https://other.example',
  finish: () => '',
};

test.each<[options: object, message: string]>([
  [{ identify: () => {} }, "there is no option 'identify'. Did you mean 'identifyBrowser'?"],
  [{ name: 'link' }, "the option 'name' is gone. It is the path of `url`."],
  [{ policy: undefined }, 'policy must be made by requestStatePolicy; it is undefined.'],
  [{ policy: { keys: [] } }, 'policy must be made by requestStatePolicy; it is an object.'],
  [{ url: undefined }, 'url must be given; it is undefined.'],
  [{ store: new Map() }, 'store must be an object with add(), find() and replace(); it is an object.'],
  [{ waitSeconds: 2_147_484 }, 'waitSeconds must be a whole number from 0 to 2147483; it is 2147484.'],
  [{ maxAsks: 0 }, `maxAsks ${atLeast1}; it is 0.`],
  [{ identifyBrowser: 'alice' }, 'identifyBrowser must be a function; it is a text.'],
  [{ finish: undefined }, 'finish must be a function; it is undefined.'],
])('pendingInteractions({ …, %j }) is rejected: %s', (options, message) => {
  expect(() => pendingInteractions({ ...link, ...options })).toThrow(
    new InvalidOption(`pendingInteractions: ${message}`),
  );
});

test('an approval page says what takes the place of its former options', () => {
  const { start: _start, finish: _finish, ...page } = link;
  const give = (option: object) => () => approvalPage({ ...page, ...option });
  expect(give({ render: () => '' })).toThrow(
    "approvalPage: the option 'render' is gone. The page always shows",
  );
  expect(give({ resumeSeconds: 5 })).toThrow("the option 'resumeSeconds' is gone. It is fixed: 60 seconds.");
});

test.each<[options: object, message: string]>([
  [{ otherwise: '' }, "question: there is no option 'otherwise'. The options are: fallback, name, data."],
  [{ name: 5 }, 'question: name must be a text that is not empty; it is 5.'],
  [{ data: { due: new Date() } }, 'question: data must be JSON of at most 4096 bytes.'],
  [{ data: { toJSON: () => 'x'.repeat(5000) } }, 'question: data must be JSON of at most 4096 bytes.'],
  [{ data: Number.NaN }, 'question: data must be JSON of at most 4096 bytes.'],
  [{ data: 'x'.repeat(4095) }, 'question: data must be JSON of at most 4096 bytes.'],
])('a question of a page with %j is rejected: %s', async (options, message) => {
  const asked = pendingInteractions(link).question({} as never, 'Link it.', options);
  await expect(asked).rejects.toThrow(new InvalidOption(message));
});

test('a waiting question of a page has no `name`', async () => {
  const asked = pendingInteractions(link).ask({} as never, 'link', 'Link it.', { name: 'a' } as object);
  const message = "ask: there is no option 'name'. The options are: fallback, data.";
  await expect(asked).rejects.toThrow(new InvalidOption(message));
});

test.each<[options: object, message: string]>([
  [{ limit: {} }, "there is no option 'limit'. Did you mean 'limits'?"],
  [{ maxEntries: 5 }, "the option 'maxEntries' is gone. Write `limits: { entries }`."],
  [{ maxValueBytes: 5 }, "the option 'maxValueBytes' is gone. It is fixed: 8192 bytes."],
  [{ now: 'now' }, 'now must be a function; it is a text.'],
])('new MemoryInteractions(%j) is rejected: %s', (options, message) => {
  expect(() => new MemoryInteractions(options)).toThrow(new InvalidOption(`MemoryInteractions: ${message}`));
});

test.each<[limits: object, message: string]>([
  [{ entrys: 5 }, "there is no option 'entrys'. Did you mean 'entries'?"],
  [{ entries: Number.NaN }, `entries ${atLeast1}; it is NaN.`],
  [{ perPrincipal: 20 }, 'perPrincipal must be a number above 0, and at most 1; it is 20.'],
])('new MemoryInteractions({ limits: %j }) is rejected: %s', (limits, message) => {
  expect(() => new MemoryInteractions({ limits })).toThrow(
    new InvalidOption(`MemoryInteractions limits: ${message}`),
  );
});

test('one principal may have its share of the pages open, and always one; ten times as many are kept when they are over', () => {
  const limitsFor = (entries: number, perPrincipal?: number) =>
    Object.values(interactionLimits('Store', { entries, ...(perPrincipal && { perPrincipal }) }, 100_000));
  expect(limitsFor(100_000)).toEqual([100_000, 20, 200]);
  expect(limitsFor(1000)).toEqual([1000, 1, 10]);
  expect(limitsFor(50, 1)).toEqual([50, 50, 500]);
});
