/** Kills the processes of calls while their users are thinking, and measures how the calls end. */
import type { ShownQuestion, User } from '@mrtr/harness';
import type { Transcript } from '@mrtr/harness/transcript';
import { converse } from '../measure/converse.ts';
import type { ConversationRequest } from '../measure/subject.ts';
import type { Processes, ProcessHosting } from './deployment.ts';

export interface Survivor {
  readonly conversation: Transcript;
  /** Whether the user had been asked when the process was killed. If not, the call had ended before. */
  readonly asked: boolean;
  readonly writtenAfter: number;
}

/**
 * Makes all calls, until each user is thinking about a first question or the call has ended. Then kills the processes
 * that asked those questions with SIGKILL, all at once. Then the users answer.
 *
 * @throws Error if that would leave no instance of a fleet.
 */
export async function killWhileAsked(
  processes: Processes,
  requests: readonly ConversationRequest[],
): Promise<Survivor[]> {
  let release = () => {};
  const killed = new Promise<void>((resolve) => {
    release = resolve;
  });
  const calls = requests.map((request) => new InterruptedCall(processes, request, killed));
  await Promise.all(calls.map((call) => call.standsStill));
  const victims = new Set(calls.flatMap((call) => call.servedLast ?? []));
  await Promise.all([...victims].map((instance) => instance.kill()));
  for (const call of calls) call.killed = true;
  release();
  return Promise.all(
    calls.map(async (call) => {
      const conversation = await call.conversation;
      return { conversation, asked: call.asked, writtenAfter: call.writtenAfter };
    }),
  );
}

class InterruptedCall {
  readonly conversation: Promise<Transcript>;
  /** Resolves when nothing more happens before the kill. */
  readonly standsStill: Promise<unknown>;
  asked = false;
  killed = false;
  writtenAfter = 0;
  #hosting: ProcessHosting | undefined;

  constructor(processes: Processes, request: ConversationRequest, killed: Promise<void>) {
    let thinks = () => {};
    const thinking = new Promise<void>((resolve) => {
      thinks = resolve;
    });
    const user = async (question: ShownQuestion) => {
      this.asked = true;
      thinks();
      await killed;
      return (request.user as User)(question);
    };
    const interrupted: ConversationRequest = {
      ...request,
      user: Object.assign(user, { maySayNothing: request.user?.maySayNothing ?? false }),
      onEvent: ({ kind }) => {
        if (this.killed && kind === 'effect') this.writtenAfter++;
      },
    };
    this.conversation = converse(interrupted, async (scene) => {
      this.#hosting = await processes.deploy(scene);
      return this.#hosting;
    });
    this.standsStill = Promise.race([thinking, this.conversation]);
  }

  /** The process to kill for this call, if its user is thinking. */
  get servedLast() {
    return this.asked ? this.#hosting?.servedLast() : undefined;
  }
}
