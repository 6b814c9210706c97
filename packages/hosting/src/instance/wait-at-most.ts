/** Bounded waits: a handler that never settles must not keep a server from closing. */
import { OperatorWarning } from '@mrtr/core/events';
import type { OnError } from './server-instance.ts';

/** Waits for `end`, at most `ms` milliseconds. `onerror` is told when that was not enough. */
export async function waitAtMost(end: Promise<unknown>, ms: number, onerror: OnError): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      onerror(
        new OperatorWarning(
          'handlers_abandoned',
          `Handlers were still running ${ms} ms after the server began to close, so it closed without them. Make handlers ` +
            'end when ctx.signal fires.',
        ),
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
