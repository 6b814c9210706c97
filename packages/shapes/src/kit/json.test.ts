import { NotJson } from '@mrtr/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertJson, copyJson } from './json.ts';

/** The path that the rejection names. */
function pathOfRejection(value: unknown): string | undefined {
  try {
    assertJson(value, 'The value');
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(NotJson);
    const { message } = error as NotJson;
    const [, path] =
      /^The value is kept between rounds and must be JSON; (.+) is not\. Convert it first\.$/.exec(message) ??
      [];
    return path;
  }
}

class Point {
  x = 1;
}
const cycle: Record<string, unknown> = { fine: 1 };
cycle.deep = { list: [cycle] };
const sparse = [1, 2, 3];
delete sparse[1];

test.each<[string, unknown, string]>([
  ['a Date', new Date(0), '$'],
  ['a Map', { cache: new Map() }, '$.cache'],
  ['a BigInt', { a: { b: 1n } }, '$.a.b'],
  ['NaN', [0, Number.NaN], '$.1'],
  ['an instance of a class', { point: new Point() }, '$.point'],
  ['a cycle', cycle, '$.deep.list.0'],
  ['a function', { a: () => 1 }, '$.a'],
  ['undefined in a list', [1, undefined], '$.1'],
  ['a hole in a list', { list: sparse }, '$.list.1'],
  ['a list with a name on it', 'a-b'.match(/-/), '$'],
  ['an object with toJSON', { toJSON: () => 1 }, '$'],
])('%s is rejected with the path to it', (_what, value, path) => {
  expect(pathOfRejection(value)).toBe(path);
});

test('undefined is allowed as a whole and as a member, where it reads like an absent one', () => {
  expect([pathOfRejection(undefined), pathOfRejection({ a: undefined, b: 1 })]).toEqual([
    undefined,
    undefined,
  ]);
});

test('one object in two places is not a cycle', () => {
  const shared = { n: 1 };
  expect(pathOfRejection({ a: shared, b: [shared, shared] })).toBeUndefined();
});

test('minus zero is allowed and comes back as zero, because a rounded temperature must not fail a call', () => {
  expect([pathOfRejection(-0), pathOfRejection({ celsius: [-0] })]).toEqual([undefined, undefined]);
});

test('every JSON value is allowed', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => pathOfRejection(value) === undefined));
});

test('an allowed value comes back equal', () => {
  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  });
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), anything), (value) => {
      fc.pre(value !== undefined && !hasMinusZero(value) && pathOfRejection(value) === undefined);
      expect(JSON.parse(JSON.stringify(value))).toEqual(value);
    }),
  );
});

const hasMinusZero = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(hasMinusZero)
    : Object.is(value, -0);

test('a copy of JSON is equal to it, shares nothing with it, and keeps a member named `__proto__`', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const [json, copy] = [JSON.parse(text), copyJson(JSON.parse(text))];
      expect(copy).toEqual(json);
      expect(JSON.stringify(copy)).toBe(text);
    }),
    { examples: [[JSON.parse('{"__proto__":{"a":[1]},"b":null}')]] },
  );
  const item = { a: 1 };
  const given = { list: [item] };
  const copy = copyJson(given);
  item.a = 2;
  given.list.push({ a: 3 });
  expect(copy).toEqual({ list: [{ a: 1 }] });
});
