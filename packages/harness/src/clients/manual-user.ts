/** The test as the person at a client that is asked over its connection. */

import { Deferred } from '../processes/waiting.ts';
import type { Era, LogicalCall, Reply } from '../transcript/call.ts';
import type { End } from '../transcript/transcript.ts';
import { RoundResult } from './round-result.ts';
import { fieldOf, type ShownQuestion, type User } from './user.ts';

export interface Connected {
  /** The era that the client and the server have negotiated. */
  readonly era: Era;
  /** Makes the call. `signal` cancels its first request. */
  call(call: LogicalCall, signal: AbortSignal | undefined): Promise<End>;
  /** Makes the first request, and leaves the answers to the test. */
  firstRound(
    call: LogicalCall,
    manualUser: ManualUser,
    signal: AbortSignal | undefined,
  ): Promise<RoundResult>;
  /** The names of the server's tools. */
  toolNames(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Makes a round of each question as it comes, and replies with the test's answer. */
export class ManualUser {
  readonly #asked: { readonly question: ShownQuestion; readonly reply: Deferred<Reply> }[] = [];
  #isAsked = new Deferred();

  readonly user: User = (question) => {
    const reply = new Deferred<Reply>();
    this.#asked.push({ question, reply });
    this.#isAsked.open();
    return reply.promise;
  };

  /** The next question over the connection, or the round that `ended` makes from the end of the request. */
  async round(
    request: Promise<End>,
    ended: (end: End) => RoundResult | Promise<RoundResult>,
  ): Promise<RoundResult> {
    const next = await Promise.race([this.#next(), request]);
    if (!('question' in next)) return ended(next);
    const { question, reply } = next;
    let answered = false;
    return new RoundResult({ [fieldOf(question)]: question }, async (replyTo) => {
      const replied = await replyTo(question);
      return async ({ caller } = {}) => {
        if (caller) throw new Error('A question over a connection is answered by the caller who connected.');
        if (answered) throw new Error('A question over a connection is answered once: there is no retry.');
        answered = true;
        reply.open(replied);
        return this.round(request, ended);
      };
    });
  }

  async #next() {
    for (;;) {
      const asked = this.#asked.shift();
      if (asked) return asked;
      this.#isAsked = new Deferred();
      await this.#isAsked.promise;
    }
  }
}
