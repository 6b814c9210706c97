import { expect, test } from 'vitest';
import { Quota } from './quota.ts';

test('owners take up to the limit of all, and a full quota takes nothing', () => {
  const quota = new Quota(3);
  expect([quota.take('ada', 2), quota.take('bob')]).toEqual([undefined, undefined]);
  expect(quota.take('cyd')).toBe('all');
  expect(quota.total).toBe(3);
});

test('an owner takes up to the own limit, and another owner still has room', () => {
  const quota = new Quota(10, 2);
  expect([quota.take('ada'), quota.take('ada')]).toEqual([undefined, undefined]);
  expect(quota.take('ada')).toBe('own');
  expect(quota.total).toBe(2);
  expect(quota.take('bob', 2)).toBeUndefined();
});

test('the limit of all is reported before the own one', () => {
  const quota = new Quota(1, 1);
  quota.take('ada');
  expect(quota.take('ada')).toBe('all');
});

test('an owner gets back exactly the room that was given back', () => {
  const quota = new Quota(10, 4);
  quota.take('ada', 4);
  quota.give('ada', 2);
  expect(quota.total).toBe(2);
  expect(quota.take('ada', 3)).toBe('own');
  expect(quota.take('ada', 2)).toBeUndefined();
  quota.give('ada', 4);
  expect(quota.total).toBe(0);
  expect(quota.take('ada', 5)).toBe('own');
  expect(quota.take('ada', 4)).toBeUndefined();
});

test('anonymous owners share the limit of all and have no own one', () => {
  const quota = new Quota(3, 1);
  expect([quota.take(undefined, 2), quota.take(undefined)]).toEqual([undefined, undefined]);
  expect(quota.take(undefined)).toBe('all');
  quota.give(undefined, 3);
  expect([quota.total, quota.take(undefined, 3)]).toEqual([0, undefined]);
});

test('without an amount, one is taken and one is given back', () => {
  const quota = new Quota(5);
  quota.take('ada', 3);
  quota.take('ada');
  expect(quota.total).toBe(4);
  quota.give('ada');
  expect(quota.total).toBe(3);
});
