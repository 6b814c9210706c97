import { MemoryLedger } from '@mrtr/core';
import { Deferred, settle } from '@mrtr/harness/internal';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hosting } from './hosting.test-support.ts';
import { makeReadiness, type ReadinessCheck } from './readiness.ts';

function asking(check: ReadinessCheck) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const errors: string[] = [];
  return { errors, isReady: makeReadiness(check, ({ message }) => void errors.push(message)) };
}

test('however many ask, the check runs once in a second', async () => {
  const check = vi.fn();
  const { isReady } = asking(check);
  const ask = () => Promise.all([isReady(), isReady()]);
  expect([await ask(), await ask()].flat()).toEqual(Array(4).fill(true));
  await vi.advanceTimersByTimeAsync(999);
  await ask();
  expect(check).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  await ask();
  expect(check).toHaveBeenCalledTimes(2);
});

const LATE = 'Not ready: false, or no answer within 2000 ms.';

test('a check that fails is not ready, and `onerror` gets the reason', async () => {
  for (const [check, reason] of [
    [() => Promise.reject(new Error('redis://ledger is gone')), 'redis://ledger is gone'],
    [() => Promise.reject('gone'), 'Not ready: gone'],
    [() => false, LATE],
  ] as const) {
    const { isReady, errors } = asking(check);
    expect([await isReady(), errors]).toEqual([false, [reason]]);
  }
});

test('a check has two seconds, and one that is never answered is not asked for ever', async () => {
  const answer = new Deferred();
  const check = vi.fn(() => answer.promise);
  const { isReady, errors } = asking(check);
  for (let time = 0; time < 12; time++) {
    const ready = isReady();
    await vi.advanceTimersByTimeAsync(3000);
    expect(await ready).toBe(false);
  }
  expect(check).toHaveBeenCalledTimes(10);
  expect(errors).toEqual(Array(12).fill(LATE));
  answer.open();
  await settle();
  expect(await isReady()).toBe(true);
});

test('/readyz asks the ledger, and tells nobody why it does not answer', async () => {
  const ledger = new MemoryLedger();
  const release = vi.spyOn(ledger, 'release');
  const ready = await hosting({ readiness: ledger });
  const failing = await hosting({ readiness: async () => Promise.reject(new Error('secret')) });
  const plain = await hosting();
  const answers = [ready, failing, plain].map(async ({ url }) => {
    const response = await fetch(new URL('/readyz', url));
    return `${response.status} ${await response.text()}`;
  });
  expect(await Promise.all(answers)).toEqual(['200 ready', '503 not ready', '200 ready']);
  expect(release).toHaveBeenCalledTimes(1);
  expect(failing.errors).toEqual(['secret']);
  expect((await fetch(new URL('/healthz', failing.url))).status).toBe(200);
});
