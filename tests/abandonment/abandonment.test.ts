/** Clients that leave, cancel, answer too late, or answer twice: what they write, and what stays behind. */

import { Deferred, settle, until } from '@mrtr/harness';
import type { Claims } from '@mrtr/option';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { IN_MEMORY, oneForEachWay } from '../testkit/options.ts';
import { deploy, ending, type Work } from './abandonment.test-support.ts';

const TTL_MS = 600_000;
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);

beforeAll(() => void process.on('unhandledRejection', onUnhandled));
afterAll(() => void process.off('unhandledRejection', onUnhandled));
// One clock for the policy (`now` is Date.now) and for H's store. Turns of the event loop stay real. The clock also
// ticks by itself: the HTTP adapter waits for a timer of 0 ms before it sends a stream's headers without its first
// event.
beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], shouldAdvanceTime: true }),
);
afterEach(async () => {
  await settle();
  vi.useRealTimers();
  expect(unhandled.splice(0)).toEqual([]);
});

/** Audit entries of a call whose rounds so far all ended with a question. */
const auditsWhileAsking = ({ audit }: Claims['modern'] | Claims['legacy']) =>
  audit === 'after-answer' ? 0 : 1;

/** Audit entries of a whole call of two rounds, one of which is served as often as `served` says. */
function auditsInTwoRounds({ modern }: Claims, served = 1): number {
  return { 'after-answer': served, 'before-asking': 1, 'every-entry': 1 + served }[modern.audit];
}

const working = (at: Work['at']): Work => ({ at, reached: new Deferred(), release: new Deferred() });

describe.each([
  ['memory', IN_MEMORY],
  ['http', oneForEachWay(IN_MEMORY)],
] as const)('on %s', (hosting, options) => {
  describe.each(options.map((option) => [option.id, option] as const))('option %s', (_id, option) => {
    const { claims } = option;

    test('drops the call of a client that leaves between rounds, after the time to live', async () => {
      const deployment = await deploy(option, hosting);
      const left = [
        await deployment.start('modern-only', 'weather'),
        await deployment.start('modern-only', 'item'),
      ];
      for (const conversation of left) await conversation.close();
      expect(deployment.framesHeld()).toBe(2 * claims.modern.framesHeld);
      vi.advanceTimersByTime(TTL_MS);
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      expect(deployment.written()).toEqual({ audits: auditsWhileAsking(claims.modern), writes: 0 });
    });

    test('finishes its work for a client that closes its stream, and keeps nothing', async () => {
      const work = working('weather');
      const deployment = await deploy(option, hosting, work);
      const { first } = await deployment.start('modern-only', 'weather');
      const controller = new AbortController();
      const answered = first.answer({ units: 'metric' }, controller);
      await work.reached.promise;
      controller.abort();
      expect(ending((await answered).end)).toMatch(/abort/i);
      work.release.open();
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      expect(deployment.written()).toEqual({ audits: auditsInTwoRounds(claims), writes: 0 });
    });

    test('drops the call of an old client that cancels while its user is asked', async () => {
      const deployment = await deploy(option, hosting);
      const controller = new AbortController();
      const { first } = await deployment.start('legacy', 'item', controller.signal);
      expect(deployment.framesHeld()).toBe(claims.modern.framesHeld);
      controller.abort(new Error('changed my mind'));
      await until(() => deployment.framesHeld() === 0, 'no frame is held');
      // The user does not know that, and answers.
      expect(ending((await first.answer({ resolution: 'Fixed' })).end)).toContain('changed my mind');
      await settle();
      expect(deployment.written()).toEqual({ audits: 0, writes: 0 });
    });

    test('finishes its work for an old client that cancels, and keeps nothing', async () => {
      const work = working('weather');
      const deployment = await deploy(option, hosting, work);
      const controller = new AbortController();
      const { first } = await deployment.start('legacy', 'weather', controller.signal);
      const answered = first.answer({ units: 'metric' });
      await work.reached.promise;
      controller.abort(new Error('changed my mind'));
      expect(ending((await answered).end)).toContain('changed my mind');
      work.release.open();
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      const { audit, entries } = claims.legacy;
      const audits = audit === 'every-entry' && entries === 'every-round' ? 2 : 1;
      expect(deployment.written()).toEqual({ audits, writes: 0 });
    });

    test('keeps nothing of an old client that disconnects while its user is asked', async () => {
      const deployment = await deploy(option, hosting);
      const conversation = await deployment.start('legacy', 'weather');
      await conversation.close();
      await settle();
      // Over HTTP, disconnecting does not cancel (2025-11-25, transports), so the frame waits until it expires.
      expect(deployment.framesHeld()).toBe(hosting === 'http' ? claims.modern.framesHeld : 0);
      vi.advanceTimersByTime(TTL_MS);
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      expect(deployment.written()).toEqual({ audits: auditsWhileAsking(claims.legacy), writes: 0 });
    });
  });

  // The other options do no work before they ask, so a client cannot leave in the middle of it.
  const audited = options.filter(({ claims }) => claims.modern.audit !== 'after-answer');
  test.each(audited.map((option) => [option.id, option] as const))(
    'option %s parks nothing for a client that closes its stream before it is asked',
    async (_id, option) => {
      const work = working('audit');
      const deployment = await deploy(option, hosting, work);
      const controller = new AbortController();
      const started = deployment.start('modern-only', 'weather', controller.signal);
      await work.reached.promise;
      controller.abort();
      expect(ending((await started).first.end)).toMatch(/abort/i);
      await settle();
      work.release.open();
      await settle();
      // Over a socket, the server may notice only after the frame is parked. Then the frame waits until it expires.
      if (hosting === 'memory') expect(deployment.framesHeld()).toBe(0);
      vi.advanceTimersByTime(TTL_MS);
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      expect(deployment.written()).toEqual({ audits: 1, writes: 0 });
    },
  );
});
