/** What one logical call leaves behind when each of its retries is delivered twice, as a network may. */
import { MemoryLedger, requestStatePolicy } from '@mrtr/core';
import { host, retriesTwice, type TwiceHosting } from '@mrtr/harness';
import { tally } from '@mrtr/harness/transcript';
import { converse } from './converse.ts';
import type { ConversationRequest } from './subject.ts';

/** Whether the policy makes state single-use, and answers a second presentation with the first one's result. */
export type Presentations = 'unlimited' | 'single use';

/** What was measured. */
export interface RetriedTwice {
  /** Work items written. */
  readonly writes: number;
  /** Whether both deliveries of every retry were answered alike. */
  readonly sameAnswer: boolean;
}

/** Makes the call of `request` in memory, with each retry delivered twice; the client gets the second answer. */
export async function retryTwice(
  request: ConversationRequest,
  presentations: Presentations,
): Promise<RetriedTwice> {
  let hosting: TwiceHosting | undefined;
  const transcript = await converse(
    { ...request, hosting: 'memory' },
    ({ request: { subject, legacy }, world, key }) => {
      const once =
        presentations === 'single use' ? { ledger: new MemoryLedger() } : { singleUse: false as const };
      const state = requestStatePolicy({ keys: [key], legacy, ...once });
      hosting = retriesTwice(host('memory', () => subject.create({ world, state })));
      return hosting;
    },
  );
  return { writes: tally(transcript).effects.write ?? 0, sameAnswer: hosting?.answeredAlike() ?? false };
}
