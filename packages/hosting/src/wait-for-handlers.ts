import { OperatorWarning } from '@mrtr/core/events';
import { waitAtMost } from '@mrtr/core/internal';
import type { OnError } from './server-instance.ts';

/** Waits for `end`, at most `ms` milliseconds. Reports to `onerror` if that was not enough. */
export async function waitForHandlers(end: Promise<unknown>, ms: number, onerror: OnError): Promise<void> {
  await waitAtMost(end, ms, () =>
    onerror(
      new OperatorWarning(
        'handlers_abandoned',
        `Handlers were still running ${ms} ms after the server began to close, so it closed without them. Make handlers ` +
          'end when ctx.signal fires.',
      ),
    ),
  );
}
