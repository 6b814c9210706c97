import { expect, test } from 'vitest';
import { AbandonedQuota, Quota, QuotaSlot } from './quota.ts';

const placeIn = (quota: Quota, owner?: string, amount?: number): QuotaSlot => {
  const place = QuotaSlot.take(quota, owner, amount);
  if (typeof place === 'string') throw new Error(`The quota is full: ${place}`);
  return place;
};

test('a place is taken for its owner, or the limit that is reached is returned', () => {
  const quota = new Quota(3, 2 / 3);
  placeIn(quota, 'eve', 2);
  expect([quota.total, quota.amountOf('eve'), quota.amountOf('adam')]).toEqual([2, 2, 0]);
  expect(QuotaSlot.take(quota, 'eve')).toBe('own');
  expect(QuotaSlot.take(quota, undefined, 2)).toBe('all');
  expect(quota.total).toBe(2);
});

test('a place is given back once', () => {
  const quota = new Quota(3);
  const [place] = [placeIn(quota, 'eve', 2), placeIn(quota, 'eve')];
  place.giveBack();
  place.giveBack();
  expect([quota.total, quota.amountOf('eve')]).toEqual([1, 1]);
});

test('a place that moves is free where it was, and is given back where it went', () => {
  const [running, abandoned] = [new Quota(2), new Quota(2)];
  const place = placeIn(running, 'eve', 2);
  expect(place.moveTo(abandoned)).toBe(true);
  expect([running.amountOf('eve'), abandoned.amountOf('eve')]).toEqual([0, 2]);
  // It is already there: there is no room to count it twice.
  expect(place.moveTo(abandoned)).toBe(true);
  place.giveBack();
  expect([running.total, abandoned.total]).toEqual([0, 0]);
});

test('a place does not move where there is no room, and one that was given back does not come back', () => {
  const [running, abandoned] = [new Quota(2), new Quota(1)];
  const [first, second] = [placeIn(running), placeIn(running)];
  expect([first.moveTo(abandoned), second.moveTo(abandoned)]).toEqual([true, false]);
  expect([running.total, abandoned.total]).toEqual([1, 1]);
  second.giveBack();
  expect(second.moveTo(new Quota(1))).toBe(false);
  first.giveBack();
  expect([running.total, abandoned.total]).toEqual([0, 0]);
});

const notEnded = (whose: string) =>
  `${whose} have not ended. Later cancelled calls keep their places until their handlers end. Make handlers end when ` +
  'their signal fires, and restart the server if they cannot.';
const ONE_CALLER = notEnded('1 handlers of cancelled calls of one caller');
const ALL = notEnded('2 handlers of cancelled calls');

test('a full quota of abandoned handlers is reported once, and again after one has ended', () => {
  const reports: string[] = [];
  const quota = new AbandonedQuota(2, 1 / 2, (error) => {
    expect(error).toMatchObject({ reason: 'handlers_abandoned' });
    reports.push(error.message);
  });
  const take = (...owners: (string | undefined)[]) => owners.map((owner) => quota.take(owner));
  expect(take('eve', 'eve', 'eve')).toEqual([undefined, 'own', 'own']);
  expect(reports).toEqual([ONE_CALLER]);
  expect(take('adam', undefined, undefined, 'eve')).toEqual([undefined, 'all', 'all', 'all']);
  expect(reports.splice(0)).toEqual([ONE_CALLER, ALL]);
  quota.giveBack('adam');
  // The end of another caller's handler gives eve no room.
  expect(take('eve', undefined, undefined)).toEqual(['own', undefined, 'all']);
  expect(reports.splice(0)).toEqual([ALL]);
  quota.giveBack('eve');
  expect(take('eve', 'eve')).toEqual([undefined, 'all']);
  expect(reports).toEqual([ALL]);
});

test('an amount that is added above the limits leaves no room until it is given back', () => {
  const quota = new Quota(3, 1 / 3);
  expect(quota.take('eve')).toBeUndefined();
  quota.add('eve', 2);
  quota.add(undefined);
  expect([quota.total, quota.amountOf('eve')]).toEqual([4, 3]);
  expect(quota.take('adam')).toBe('all');
  quota.giveBack('eve', 2);
  expect([quota.take('eve'), quota.take('adam')]).toEqual(['own', undefined]);
});

test('anonymous owners share the limit of all and have no own one', () => {
  const quota = new Quota(3, 1 / 3);
  expect([quota.take(undefined, 2), quota.take(undefined)]).toEqual([undefined, undefined]);
  expect(quota.take(undefined)).toBe('all');
  quota.giveBack(undefined, 3);
  expect([quota.total, quota.take(undefined, 3)]).toEqual([0, undefined]);
});

test('a place that was taken for nobody is counted for its owner later, and given back for both', () => {
  const quota = new Quota(3, 1 / 3);
  const [place, other] = [placeIn(quota), placeIn(quota)];
  expect(place.assign('eve')).toBeUndefined();
  expect(other.assign('eve')).toBe('own');
  expect([quota.total, quota.amountOf('eve')]).toEqual([2, 1]);
  other.giveBack();
  expect([quota.total, quota.amountOf('eve')]).toEqual([1, 1]);
  place.giveBack();
  expect([quota.total, quota.amountOf('eve')]).toEqual([0, 0]);
});

test('a place that was given back is counted for nobody', () => {
  const quota = new Quota(3, 1 / 3);
  const place = placeIn(quota);
  place.giveBack();
  expect(place.assign('eve')).toBeUndefined();
  expect([quota.total, quota.amountOf('eve')]).toEqual([0, 0]);
});
