import { setTimeout as delay } from 'node:timers/promises';
import type { CallKey } from './records.ts';
import { LOOK_AGAIN_MS } from './running-call.ts';
import type { Runtime } from './runtime.ts';

/** The turn that a request waits for. */
export interface AwaitedTurn {
  readonly callKey: CallKey;
  readonly turn: number;
  /** The digest of the answers that start it; see `hashAnswers`. */
  readonly answers?: string;
  /** The sealed answers. */
  readonly message?: string;
}

const REMIND_MS = 1000;

/**
 * Sends the answers again, in case PostgreSQL's notification of them was lost with a connection. Waits twice as long
 * each time. Stops when the request is over, or when the parked call polls for the answers itself.
 */
export async function remindOwner(
  runtime: Pick<Runtime, 'send'>,
  { callKey, turn, message }: AwaitedTurn,
  report: (error: unknown) => void,
  request: AbortSignal,
) {
  if (message === undefined) return;
  const topic = String(turn - 1);
  for (let wait = REMIND_MS; wait < LOOK_AGAIN_MS; wait *= 2) {
    await delay(wait, undefined, { signal: request }).catch(() => {});
    if (request.aborted) return;
    runtime.send(callKey.call, message, topic, `${topic} after ${wait}`).catch(report);
  }
}
