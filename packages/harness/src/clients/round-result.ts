/** One call, round by round, with a test between the rounds. */
import { AsyncResource } from 'node:async_hooks';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { CallResult, Reply } from '../transcript/call.ts';
import type { End } from '../transcript/transcript.ts';
import { type GivenReply, nameIn, replyOf, replyWith, type ShownQuestion, type User } from './user.ts';

/**
 * The replies to the questions of one round, by the question's key or by the first field of its form: questions to an old
 * client have no keys. A bare value means an acceptance, with the value in that field.
 */
export type Replies = Readonly<Record<string, GivenReply>>;

/** Makes the retry from the replies. */
type Prepare = (replyTo: (question: ShownQuestion) => Promise<Reply>) => Promise<Retry>;

/** How a request of a call is sent. */
export interface SendOptions {
  /** Cancels the request. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The authenticated caller. A server in this process receives it as `authInfo`, a listening one as a bearer token.
   * Default: of a call, an anonymous caller; of a retry, the call's. Another one can send a modern client's retries.
   */
  readonly caller?: AuthInfo | undefined;
}

/** Sends a retry, the same one on each call. */
export type Retry = (options?: SendOptions) => Promise<RoundResult>;

/** The state of a call: it asks questions, or it has ended. */
export class RoundResult {
  /** The questions to the person, by key. Empty if the call has ended, or asks only a model or for roots. */
  readonly questions: Readonly<Record<string, ShownQuestion>>;
  /** The end of the call; undefined while it asks. A failed call has an end too, and does not throw. */
  readonly end: End | undefined;
  readonly #prepare: Prepare;
  #retry: Promise<Retry> | undefined;

  /** A round that asks, or with `end` the last one. */
  constructor(questions: RoundResult['questions'], prepare: Prepare, end?: End) {
    this.questions = questions;
    this.end = end;
    // Events are recorded by their asynchronous context. A test answers outside of it, so bind it here.
    this.#prepare = AsyncResource.bind(async (replyTo) => AsyncResource.bind(await prepare(replyTo)));
  }

  static last(end: End): RoundResult {
    const refuse = async () => {
      throw new Error('The call has ended: there is no question to answer.');
    };
    return new RoundResult({}, refuse, end);
  }

  /**
   * Answers, and sends the client's next request. A modern client may answer a round again, late or differently: call this
   * again. A question over a connection is answered once, by its caller.
   *
   * @throws Error if a question has no reply.
   * @example
   * const done = await round.answer({ sure: true });
   * expect(done.end?.result?.content).toEqual([{ type: 'text', text: 'Deployed.' }]);
   */
  async answer(replies: Replies | User, options?: SendOptions): Promise<RoundResult> {
    this.#retry = this.#prepare(async (question) => replyIn(replies, question));
    return (await this.#retry)(options);
  }

  /**
   * Sends the latest retry of this round once more, as a network may. It may do so while the first one is being served:
   * `Promise.all([round.answer(replies), round.again()])`.
   *
   * @param options with a `caller`, that user presents the call's request state.
   * @throws Error before `answer`, and for a question over a connection, which has no retries.
   */
  async again(options?: SendOptions): Promise<RoundResult> {
    if (this.end)
      throw new Error('The call has ended. Call `again` on the round that was answered: it sent the retry.');
    if (!this.#retry) throw new Error('Answer the round first: there is no retry to send again.');
    return (await this.#retry)(options);
  }
}

function replyIn(replies: Replies | User, question: ShownQuestion) {
  if (typeof replies === 'function') return replyOf(replies, question);
  return replyWith(replies[nameIn(replies, question)] as GivenReply, question);
}

export const endOf = (call: Promise<CallResult>): Promise<End> =>
  call.then((result) => ({ result }), errorEnd);

export function errorEnd(error: unknown): End {
  const message = error instanceof Error ? error.message : String(error);
  const { code } = error as { readonly code?: unknown };
  // The cause of `fetch failed` has the reason.
  const because = message.endsWith('fetch failed') ? reasonOf(error) : '';
  return { error: { message: message + because, ...(typeof code === 'number' && { code }) } };
}

function reasonOf(error: unknown) {
  const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
  if (cause?.cause) return reasonOf(cause);
  return cause ? `: ${cause.message || cause.code}` : '';
}
