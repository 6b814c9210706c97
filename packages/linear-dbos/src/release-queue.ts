/**
 * Calls this live instance has abandoned. Releases them in the table, so that another instance may resume them: it would
 * leave the calls of a live owner alone.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallHost } from './running-call.ts';

const AGAIN_MS = 1000;

/** Releases each call once its handler no longer runs here. */
export function releaseQueue({ instance, settings, runtime, running, turnListeners }: CallHost) {
  /** Calls whose abandoned handlers still run, until they end or their time is over. */
  const endings = new Map<string, Promise<void>>();
  const releases = new Map<string, Promise<void>>();
  let isClosed = false;

  async function releaseNow(id: string) {
    while (!isClosed) {
      try {
        await runtime.presence.ensureHeld();
        return await runtime.calls.release([id], instance);
      } catch (error) {
        settings.onerror(error);
        await delay(AGAIN_MS, undefined, { ref: false });
      }
    }
  }

  /** Releases a call, unless it runs here. */
  function release(id: string) {
    if (running.has(id) || releases.has(id)) return;
    const releasing = releaseNow(id).finally(() => {
      releases.delete(id);
      turnListeners.notify(id);
    });
    releases.set(id, releasing);
  }

  return {
    release,
    /** Releases a call when its handler has `ended`, at the latest after `takeOverSeconds`. */
    releaseAfter(ended: Promise<void>, id: string) {
      const late = delay(settings.takeOverSeconds * 1000, undefined, { ref: false });
      const ending = Promise.race([ended, late]).then(() => {
        if (endings.get(id) === ending) endings.delete(id);
        release(id);
      });
      endings.set(id, ending);
    },
    /** Resolves when no abandoned handler of the call runs here, and no release of it is under way. */
    async waitUntilSettled(id: string) {
      await endings.get(id);
      await releases.get(id);
    },
    close() {
      isClosed = true;
    },
  };
}
