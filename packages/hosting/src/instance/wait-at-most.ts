/** Ends that somebody else has to come to: a handler that never settles must not keep a server from closing. */
import type { OnError } from './server-instance.ts';

/** Waits for `end`, at most `ms` milliseconds. `onerror` is told when that was not enough. */
export async function waitAtMost(end: Promise<unknown>, ms: number, onerror: OnError): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      onerror(
        new Error(`Handlers were still running ${ms} ms after they had been told to end; they are left.`),
      );
      resolve();
    }, ms);
  });
  try {
    await Promise.race([end, late]);
  } finally {
    clearTimeout(timer);
  }
}
