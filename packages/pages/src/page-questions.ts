/** The question that sends a user to a page. It is answered when the user has finished there. */
import { hash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Answer,
  type AnswerOf,
  CannotAsk,
  canAsk,
  ElicitationDeclined,
  InvalidOption,
  isRefusal,
  MrtrError,
  type Question,
  type ServerContext,
} from '@mrtr/core';
import { canonicalJson, ownEntry } from '@mrtr/core/internal';
import { type KeyRing, openAtRest, sealAtRest } from '@mrtr/core/seal';
import { type Call, callOf, isDigestOf } from '@mrtr/core/shape';
import {
  type InteractionProgress,
  type Interactions,
  isOpen,
  refOf,
  type StoredInteraction,
} from './records.ts';

/** The options of one question. */
export interface LinkOptions<T> {
  /** The answer for a client that cannot open pages. */
  readonly fallback?: T;
  /** Distinguishes two questions of one call that have the same words. */
  readonly name?: string;
  /**
   * Passed to `start` and `finish`, for example the sum that the user agrees to: JSON of at most 4 KiB. The store keeps
   * it sealed; no address holds it.
   */
  readonly data?: unknown;
}

const MAX_DATA_BYTES = 4096;

/** One question that a page answers. */
export interface PageQuestion<T> extends LinkOptions<T> {
  readonly message: string;
  /** The interaction's id, if another call may find it again. Default: an id of this call. */
  readonly id?: string;
  /** The question that sends the user to `url`. */
  ask(text: string, url: URL): Question;
  /** The answer's value, from the value of `finish` and the client's response. */
  valueFrom(finished: unknown, response: unknown): T;
  /** Called on a refusal: `refused` on the page, otherwise in the client. */
  noteRefusal?(response: unknown, how: 'refused' | 'declined' | 'cancelled'): void;
  /** Ends the call with an error that holds the link, if the client may have refused without its user. */
  sendLink?(url: URL): never;
}

/** The part of shape H's context that asking needs. */
export interface WaitingContext {
  readonly pseudonym: string | undefined;
  readonly signal: AbortSignal;
  canAsk(kind: 'elicitation' | 'elicitation.url'): boolean;
  once<V>(key: string, effect: () => Promise<V>): Promise<V>;
  ask<Q extends Question>(key: string, question: Q): Promise<AnswerOf<Q>>;
}

/** The settings of all questions of one sort. */
export interface PageQuestionSettings {
  readonly records: Interactions;
  /** The address of the start page. */
  readonly startPage: () => URL;
  /** How long a retry waits for the user to finish, in seconds. */
  readonly waitSeconds: number;
  /** How often one call may ask its user to open the page. */
  readonly maxAsks: number;
}

export const NOBODY = 'This needs a caller whose identity is known: the page belongs to one user.';
const AGAIN = 'The page is not finished yet. Finish there, and then accept this.';
const UNFINISHED = 'The page was not finished in time. Call again to get another one.';
const CLOSED: InteractionProgress = { stage: 'closed' };

/** The questions that one sort of page answers. */
export function pageQuestions({ records, startPage, waitSeconds, maxAsks }: PageQuestionSettings) {
  /** Makes the question about `subject`, and its answer once the user has finished. */
  async function ask<T>(ctx: ServerContext, subject: PageQuestion<T>) {
    const { message } = subject;
    const data = requireData('question', subject.data);
    const call = callOf(ctx);
    const id = subject.id ?? idOf(call, [records.pageName(), subject.name ?? '', message, data ?? '']);
    const ref = refOf(id);
    const url = pageOf(id);
    const [first, again] = wordings(subject, id, url, records.ring());
    const question = first();
    if (!canAsk(ctx, question.kind)) return question;
    const { pseudonym } = call;
    if (pseudonym === undefined) throw new CannotAsk(NOBODY);
    const keys = keysOf(call, question);
    if (keys.length > 1) throw new InvalidOption(sameWordsMessage(keys));
    const [key] = keys;
    const assignToKey = async (decided: StoredInteraction) =>
      first(await records.assignToCall(decided, { key, call: subject.id && call.id }));
    if (key === undefined) {
      // Interactions begin only here. One that expires while its question is open stays expired.
      await records.begin(ref, { pseudonym, message, data: subject.data });
      // The outcome counts only for a key that asks now. An answer that an earlier round read is kept, sealed.
      return question;
    }
    const { inputResponses, signal } = ctx.mcpReq;
    const response = ownEntry(inputResponses, key);
    // After a user agreed to open the page, wait for the page: the client may have answered at once.
    const hasAccepted = (response as { readonly action?: unknown } | undefined)?.action === 'accept';
    const found = await (hasAccepted ? waitForFinish(ref, signal) : records.find(ref));
    const own = found && call.isPseudonym(found.pseudonym) ? found : undefined;
    if (own && hasOutcome(own)) return assignToKey(own);
    const hasRefused = isRefusal(question.read(response));
    const isLast = (call.timesAsked.get(key) ?? 0) >= maxAsks && own?.stage !== 'finishing';
    if (own && isOpen(own) && !hasRefused && !isLast) return again(own);
    if (hasRefused) subject.sendLink?.(url);
    // The user must not finish an interaction that the call has abandoned.
    const ended = await records.close(ref);
    if (ended && hasOutcome(ended)) return assignToKey(ended);
    if (hasRefused) return question;
    throw new InteractionUnfinished(UNFINISHED);
  }

  /** Whether the previous round asked about `subject`, with a link to the page of this id. */
  function wasAsked<T>(call: Call, subject: PageQuestion<T>, id: string) {
    const [first] = wordings(subject, id, pageOf(id), records.ring());
    return keysOf(call, first()).length > 0;
  }

  /** Asks about `subject` in a handler that waits, until the user has finished or no longer may. Resolves with the value. */
  async function waitFor<T>(ctx: WaitingContext, key: string, subject: PageQuestion<T>) {
    requireData('ask', subject.data);
    const id = await ctx.once(`${key}: page`, () => begin(ctx, subject));
    const [ref, url] = [refOf(id), pageOf(id)];
    try {
      for (let asked = 1; ; asked++) {
        const text = asked === 1 ? subject.message : `${AGAIN} ${subject.message}`;
        const response = await ctx.ask(key, withResponse(subject.ask(text, url)));
        // Record the visit: a process that resumes the call of a dead one must take the same branch.
        const { stage, value } = await ctx.once(`${key}: visit ${asked}`, () =>
          visit(ref, asked, ctx.signal),
        );
        if (stage === 'finished') return subject.valueFrom(value, response);
        if (stage === 'refused') {
          subject.noteRefusal?.(response, 'refused');
          throw new ElicitationDeclined('declined', key);
        }
        if (stage === 'closed') throw new InteractionUnfinished(UNFINISHED);
      }
    } catch (error) {
      // The user refused, or the call is over: nobody would read the outcome.
      await records.close(ref).catch(() => {});
      throw error;
    }
  }

  /** Begins an interaction for a handler that waits. Its random id is known to the call alone. */
  async function begin<T>(ctx: WaitingContext, subject: PageQuestion<T>) {
    const { message, data } = subject;
    const { pseudonym } = ctx;
    const id = randomBytes(16).toString('base64url');
    const { kind } = subject.ask(message, pageOf(id));
    // The question itself is rejected in a moment.
    if (!ctx.canAsk(kind as 'elicitation' | 'elicitation.url')) return id;
    if (pseudonym === undefined) throw new CannotAsk(NOBODY);
    await records.begin(refOf(id), { message, data, pseudonym });
    return id;
  }

  /** Waits for the user's progress on the page. Closes the page when its time or the last visit is over. */
  async function visit(ref: string, asked: number, signal: AbortSignal): Promise<InteractionProgress> {
    const found = await waitForFinish(ref, signal);
    // In an aborted handler, the next question rejects and closes the page.
    const isLast = asked >= maxAsks && !signal.aborted;
    const { stage, value } = (isLast ? await records.close(ref) : found) ?? CLOSED;
    return stage === 'finished' ? { stage, value } : { stage };
  }

  /** Resolves with the interaction when the user has finished or refused, or `waitSeconds` are over. */
  async function waitForFinish(ref: string, signal: AbortSignal) {
    let left = waitSeconds * 1000;
    for (let pause = 50; ; pause = Math.min(pause * 2, 1000, left)) {
      const stored = await records.find(ref);
      if (!stored || !isOpen(stored) || left <= 0 || signal.aborted) return stored;
      await delay(pause, undefined, { signal }).catch(() => {});
      left -= pause;
    }
  }

  /** The address of the page of this id. */
  function pageOf(id: string) {
    const url = startPage();
    url.searchParams.set('id', id);
    return url;
  }

  return { ask, wasAsked, waitFor, pageOf };
}

/** The keys under which the previous round asked `question`. */
const keysOf = ({ asked = new Map() }: Call, question: Question) =>
  [...asked].filter(([, digest]) => isDigestOf(digest, question)).map(([key]) => key);

/**
 * Derives the id from the call's id, which never leaves the server, so nobody can guess it. Every round and instance
 * derives the same id without a store.
 */
const idOf = ({ id }: Call, about: readonly string[]) =>
  hash('sha256', JSON.stringify(['interaction', id, ...about]), 'base64url').slice(0, 22);

const hasOutcome = ({ stage }: InteractionProgress) => stage === 'finished' || stage === 'refused';

/** The text of `data`, equal for equal values. @throws InvalidOption if it is not JSON, or too large. */
function requireData(what: string, data: unknown) {
  if (data === undefined) return undefined;
  try {
    const text = canonicalJson(data);
    // JSON changes some values: a date, for example, comes back as a text.
    const isJson = canonicalJson(JSON.parse(JSON.stringify(data))) === text;
    if (isJson && Buffer.byteLength(text) <= MAX_DATA_BYTES) return text;
  } catch {
    // Not JSON: rejected below.
  }
  throw new InvalidOption(`${what}: data must be JSON of at most ${MAX_DATA_BYTES} bytes.`);
}

const sameWordsMessage = (keys: readonly string[]) =>
  `The page is asked under ${keys.map((key) => `'${key}'`).join(' and ')} with the same words. Give each question a \`name\`.`;

/** `question`, with the client's whole response as its answer. */
const withResponse = (question: Question): Question => ({
  ...question,
  read: (response) => {
    const answer = question.read(response);
    return answer.kind === 'accepted' ? { kind: 'accepted', value: response } : answer;
  },
});

/**
 * The first wording of the question, and that of each repetition. An answer to either answers both. A client's `accept`
 * counts once the interaction is finished. Later rounds read the kept answer, since the store may have deleted the
 * interaction. It is sealed for this interaction, so no client can forge it.
 */
function wordings<T>(subject: PageQuestion<T>, id: string, url: URL, ring: KeyRing) {
  const { message, fallback, noteRefusal, valueFrom } = subject;
  const [first, again] = [subject.ask(message, url), subject.ask(`${AGAIN} ${message}`, url)];
  const place = `answer ${id}`;
  const readAnswer = (response: unknown, kept: StoredInteraction | undefined): Answer<T> => {
    const answer = first.read(response);
    if (isRefusal(answer)) noteRefusal?.(response, answer.kind);
    if (answer.kind !== 'accepted') return answer as Answer<never>;
    const { done } = (response as { readonly content?: { readonly done?: unknown } }).content ?? {};
    const sealed = typeof done === 'string' ? Buffer.from(done, 'base64url') : undefined;
    const opened = sealed && openAtRest(sealed, place, ring);
    if (opened !== undefined) return { kind: 'accepted', value: JSON.parse(opened).value };
    if (kept?.stage === 'finished') return { kind: 'accepted', value: valueFrom(kept.value, response) };
    if (kept?.stage === 'refused') {
      noteRefusal?.(response, 'refused');
      return { kind: 'declined' };
    }
    return { kind: 'invalid', issues: [{ message: 'The page is not finished.' }] };
  };
  const makeQuestion = (one: Question, other: Question) => (kept?: StoredInteraction) => {
    const read = (response: unknown) => readAnswer(response, kept);
    const keep = (response: unknown) => {
      const answer = read(response);
      if (answer.kind !== 'accepted') return { action: answer.kind === 'cancelled' ? 'cancel' : 'decline' };
      const done = sealAtRest(JSON.stringify({ value: answer.value }), place, ring).toString('base64url');
      return { action: 'accept', content: { done } };
    };
    const own = { otherWording: other.digest, read, keep, ...(fallback !== undefined && { fallback }) };
    return { ...one, ...own } as Question<T>;
  };
  return [makeQuestion(first, again), makeQuestion(again, first)] as const;
}

/** The user did not finish a page in time, or within `maxAsks` questions. The message is for the user. */
export class InteractionUnfinished extends MrtrError {
  static override readonly code = 'interaction_unfinished';
}
