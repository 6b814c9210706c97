import type { CallKey } from './records.ts';
import { LOOK_AGAIN_MS } from './running-call.ts';
import type { Runtime } from './runtime.ts';

/** The turn that a request waits for. */
export interface AwaitedTurn {
  readonly callKey: CallKey;
  readonly turn: number;
  /** The digest of the answers that start it; see `unreadAnswers`. */
  readonly answers?: string;
  /** The answers as they were sent. */
  readonly message?: string;
}

const REMIND_MS = 1000;

/**
 * Wakes the instance that runs the call if PostgreSQL's notification of the answers was lost with a connection: another
 * message sends another notification. It waits longer each time, until the parked call's own next look finds them.
 *
 * @returns a function that stops it.
 */
export function remindOwner(
  runtime: Pick<Runtime, 'send'>,
  { callKey, turn, message }: AwaitedTurn,
  report: (error: Error) => void,
): () => void {
  if (message === undefined) return () => {};
  const topic = String(turn - 1);
  let wait = REMIND_MS;
  let timer: NodeJS.Timeout;
  const later = () => {
    timer = setTimeout(() => {
      runtime.send(callKey.call, message, topic, `${topic} after ${wait}`).catch(report);
      wait *= 2;
      if (wait < LOOK_AGAIN_MS) later();
    }, wait);
  };
  later();
  return () => clearTimeout(timer);
}
