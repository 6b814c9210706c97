/** The person at a client that is asked over its connection, where the test is that person. */

import { Deferred } from '../processes/waiting.ts';
import type { Recorder } from '../recording/recorder.ts';
import type { Era, LogicalCall, Reply } from '../transcript/call.ts';
import type { End } from '../transcript/transcript.ts';
import type { RecordedApplication } from './recorded-application.ts';
import { Round } from './round.ts';
import { fieldOf, type ShownQuestion, type User } from './user.ts';

export interface Connected {
  /** The one that it and the server have agreed on. */
  readonly era: Era;
  call(call: LogicalCall): Promise<End>;
  /** Makes the first request, and leaves the answers to the test. `signal` cancels that request. */
  firstRound(call: LogicalCall, manualUser: ManualUser, signal?: AbortSignal): Promise<Round>;
  /** The names of the server's tools. */
  toolNames(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface AtClient {
  readonly application: RecordedApplication;
  readonly recorder: Recorder;
}

/** Takes questions as they come. Each is a round, and the test's answer is the reply. */
export class ManualUser {
  readonly #asked: { readonly question: ShownQuestion; readonly reply: Deferred<Reply> }[] = [];
  #isAsked = new Deferred();

  readonly user: User = (question) => {
    const reply = new Deferred<Reply>();
    this.#asked.push({ question, reply });
    this.#isAsked.open();
    return reply.promise;
  };

  /** The next question over the connection, or what `ended` makes of the end of the request. */
  async round(request: Promise<End>, ended: (end: End) => Round | Promise<Round>): Promise<Round> {
    const next = await Promise.race([this.#next(), request]);
    if (!('question' in next)) return ended(next);
    const { question, reply } = next;
    const key = fieldOf(question);
    let answered = false;
    return Round.asking({ [key]: question }, async (replyTo) => {
      const replied = await replyTo(key, question);
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
