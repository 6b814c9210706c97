/** Clients that go away, give up, come too late, or come twice: what is written, and what is left behind. */

import { Gate, settle, until } from '@mrtr/harness';
import type { Claims } from '@mrtr/tools';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ANSWERS, answering, deploy, ending, type Work } from './abandonment.test-support.ts';
import { IN_MEMORY, oneForEachWay, sealsState } from './testkit/options.ts';

const TTL_MS = 600_000;
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);

beforeAll(() => void process.on('unhandledRejection', onUnhandled));
afterAll(() => void process.off('unhandledRejection', onUnhandled));
// One clock for the policy (`now` is Date.now) and for H's store. Turns of the event loop stay real. It also ticks by
// itself: the HTTP adapter waits a timer of 0 ms before it sends a stream's headers without its first event.
beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], shouldAdvanceTime: true }),
);
afterEach(async () => {
  await settle();
  vi.useRealTimers();
  expect(unhandled.splice(0)).toEqual([]);
});

/** Audit entries of a call whose rounds so far ended in a question. */
const auditsWhileAsking = ({ audit }: Claims['modern'] | Claims['legacy']) =>
  audit === 'after-answer' ? 0 : 1;

/** Audit entries of a whole call of two rounds, one of which is presented `times`. */
function auditsInTwoRounds({ modern }: Claims, times = 1): number {
  // H's continuation is taken out by the first of two, so nothing of the second runs.
  const served = modern.framesHeld > 0 ? 1 : times;
  return { 'after-answer': served, 'before-asking': 1, 'every-entry': 1 + served }[modern.audit];
}

const working = (at: Work['at']): Work => ({ at, reached: new Gate(), release: new Gate() });

describe.each([
  ['memory', IN_MEMORY],
  ['http', oneForEachWay(IN_MEMORY)],
] as const)('on %s', (hosting, options) => {
  describe.each(options.map((option) => [option.id, option] as const))('option %s', (_id, option) => {
    const { claims } = option;

    it('keeps nothing of a client that leaves between rounds, after the time to live', async () => {
      const deployment = await deploy(option, hosting);
      const client = await deployment.modern();
      await client.call('weather');
      await client.call('item');
      await client.close();
      expect(deployment.framesHeld()).toBe(2 * claims.modern.framesHeld);
      vi.advanceTimersByTime(TTL_MS);
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      expect(deployment.written()).toEqual({ audits: auditsWhileAsking(claims.modern), writes: 0 });
    });

    it('finishes its work for a client that closes its stream, and keeps nothing', async () => {
      const work = working('weather');
      const deployment = await deploy(option, hosting, work);
      const client = await deployment.modern();
      const retry = answering(await client.call('weather'), ANSWERS.weather);
      const controller = new AbortController();
      const end = ending(client.call('weather', retry, controller.signal));
      await work.reached.promise;
      controller.abort();
      expect(await end).toMatch(/abort/i);
      work.release.open();
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      expect(deployment.written()).toEqual({ audits: auditsInTwoRounds(claims), writes: 0 });
    });

    it(`${sealsState(option) ? 'refuses' : 'takes'} a late answer`, async () => {
      const deployment = await deploy(option, hosting);
      const client = await deployment.modern();
      const weather = answering(await client.call('weather'), ANSWERS.weather);
      const first = await client.call('item');
      const second = await client.call('item', answering(first, ANSWERS.duplicate));
      vi.advanceTimersByTime(TTL_MS);
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      // Without sealed state there is nothing that could end.
      const sealed = sealsState(option);
      const ended = sealed ? /Invalid or expired requestState/ : /^result$/;
      expect(await ending(client.call('item', answering(second, ANSWERS.original)))).toMatch(ended);
      expect(await ending(client.call('weather', weather))).toMatch(ended);
      const audits = sealed ? auditsWhileAsking(claims.modern) : auditsInTwoRounds(claims);
      expect(deployment.written()).toEqual({ audits, writes: sealed ? 0 : 1 });
    });

    it('serves a retry that is sent twice at once as often as its claims say', async () => {
      const deployment = await deploy(option, hosting);
      const client = await deployment.modern();
      const refusesOne = claims.modern.framesHeld > 0;
      for (const tool of ['weather', 'item'] as const) {
        const retry = answering(await client.call(tool), ANSWERS[tool]);
        const ends = await Promise.all([1, 2].map(() => ending(client.call(tool, retry))));
        expect(ends.sort()).toEqual(refusesOne ? ['error result', 'result'] : ['result', 'result']);
      }
      expect(deployment.framesHeld()).toBe(0);
      // Without a ledger, nothing but a taken continuation makes a presentation single; see docs/security.md.
      expect(deployment.written()).toEqual({
        audits: auditsInTwoRounds(claims, 2),
        writes: refusesOne ? 1 : 2,
      });
    });

    it('drops the call of an old client that cancels while its user is asked', async () => {
      const [asked, late] = [new Gate(), new Gate()];
      const deployment = await deploy(option, hosting);
      const client = await deployment.old(async () => {
        asked.open();
        await late.promise;
        return ANSWERS.item.resolution;
      });
      const controller = new AbortController();
      const end = ending(client.call('item', controller.signal));
      await asked.promise;
      expect(deployment.framesHeld()).toBe(claims.modern.framesHeld);
      controller.abort(new Error('changed my mind'));
      expect(await end).toContain('changed my mind');
      await until(() => deployment.framesHeld() === 0);
      expect(deployment.framesHeld()).toBe(0);
      // The user, who cannot know, answers all the same.
      late.open();
      await settle();
      expect(deployment.written()).toEqual({ audits: 0, writes: 0 });
    });

    it('finishes its work for an old client that cancels, and keeps nothing', async () => {
      const work = working('weather');
      const deployment = await deploy(option, hosting, work);
      const client = await deployment.old(async () => ANSWERS.weather.units);
      const controller = new AbortController();
      const end = ending(client.call('weather', controller.signal));
      await work.reached.promise;
      controller.abort(new Error('changed my mind'));
      expect(await end).toContain('changed my mind');
      work.release.open();
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      const { audit, entries } = claims.legacy;
      const audits = audit === 'every-entry' && entries === 'every-round' ? 2 : 1;
      expect(deployment.written()).toEqual({ audits, writes: 0 });
    });

    it('keeps nothing of an old client that disconnects while its user is asked', async () => {
      const asked = new Gate();
      const deployment = await deploy(option, hosting);
      const client = await deployment.old(() => {
        asked.open();
        return new Promise(() => {});
      });
      const end = ending(client.call('weather'));
      await asked.promise;
      await client.close();
      await end;
      await settle();
      // Over HTTP a disconnection is no cancellation (2025-11-25, transports): the frame has its time.
      expect(deployment.framesHeld()).toBe(hosting === 'http' ? claims.modern.framesHeld : 0);
      vi.advanceTimersByTime(TTL_MS);
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      expect(deployment.written()).toEqual({ audits: auditsWhileAsking(claims.legacy), writes: 0 });
    });
  });

  // The others do nothing before they ask, so there is nothing to leave them in the middle of.
  const audited = options.filter(({ claims }) => claims.modern.audit !== 'after-answer');
  it.each(audited.map((option) => [option.id, option] as const))(
    'option %s parks nothing for a client that closes its stream before it is asked',
    async (_id, option) => {
      const work = working('audit');
      const deployment = await deploy(option, hosting, work);
      const client = await deployment.modern();
      const controller = new AbortController();
      const end = ending(client.call('weather', {}, controller.signal));
      await work.reached.promise;
      controller.abort();
      expect(await end).toMatch(/abort/i);
      await settle();
      work.release.open();
      await settle();
      // Over a socket, the news may come when the frame is parked already: it has its time then.
      if (hosting === 'memory') expect(deployment.framesHeld()).toBe(0);
      vi.advanceTimersByTime(TTL_MS);
      await settle();
      expect(deployment.framesHeld()).toBe(0);
      expect(deployment.written()).toEqual({ audits: 1, writes: 0 });
    },
  );
});
