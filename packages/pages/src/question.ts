/** The question that sends a user to a page, and is answered when they have finished there. */
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
import { canonicalJson, ownEntry } from '@mrtr/core/kit';
import { type KeyRing, openAtRest, sealAtRest } from '@mrtr/core/seal';
import { type Call, callOf, isDigestOf } from '@mrtr/core/shape';
import {
  type InteractionProgress,
  type InteractionSubject,
  type Interactions,
  isOpen,
  refOf,
  type StoredInteraction,
} from './records.ts';

/** What one question may say. */
export interface LinkOptions<T> {
  /** The answer for a client that cannot open pages. */
  readonly fallback?: T;
  /** Tells two questions of one call apart that have the same words. */
  readonly name?: string;
  /**
   * What `start` and `finish` need to know of this question, for example the sum that the user agrees to: JSON of at most
   * 4 KiB. It is kept in the store, sealed, and in no address.
   */
  readonly data?: unknown;
}

const MAX_DATA_BYTES = 4096;

/** One page question: its words, and how its answer is read. */
export interface Subject<T> extends LinkOptions<T> {
  readonly message: string;
  /** The interaction's id, where one is found again without its call. Default: an id of this call. */
  readonly id?: string;
  /** The question that sends the user to `url`. */
  ask(text: string, url: URL): Question;
  /** The answer's value, from what the page gave and the client's response. */
  valueFrom(finished: unknown, response: unknown): T;
  /** Is called on a refusal: `refused` on the page, or by the client. */
  noteRefusal?(response: unknown, how: 'refused' | 'declined' | 'cancelled'): void;
  /** Ends the call in the place of a refusal that its client may have given by itself. */
  refuse?(url: URL): never;
}

/** What is needed of a handler that waits for its questions: shape H's context has it. */
export interface WaitingContext {
  readonly pseudonym: string | undefined;
  readonly signal: AbortSignal;
  canAsk(kind: 'elicitation' | 'elicitation.url'): boolean;
  once<V>(key: string, effect: () => Promise<V>): Promise<V>;
  ask<Q extends Question>(key: string, question: Q): Promise<AnswerOf<Q>>;
}

/** What questions of one sort have in common. */
export interface PageQuestionSettings {
  readonly records: Interactions;
  /** The address of the start page. */
  readonly startPage: () => URL;
  /** How long a retry waits for the user to finish, in seconds. */
  readonly waitSeconds: number;
  /** How often one call may send its user to the page. */
  readonly maxAsks: number;
}

export const NOBODY = 'This needs a caller whose identity is known: the page belongs to one user.';
const AGAIN = 'The page is not finished yet. Finish there, and then accept this.';
const UNFINISHED = 'The page was not finished in time. Call again to get another one.';
const CLOSED: InteractionProgress = { stage: 'closed' };

/** Makes the questions. */
export class Asking {
  readonly #options: PageQuestionSettings;

  constructor(options: PageQuestionSettings) {
    this.#options = options;
  }

  /** The question about `subject`, and its answer when the user has finished. */
  async ask<T>(ctx: ServerContext, subject: Subject<T>): Promise<Question<T>> {
    const { records, maxAsks } = this.#options;
    const { message } = subject;
    const data = requireData('question', subject.data);
    const call = callOf(ctx);
    const id = subject.id ?? idOf(call, [records.pageName, subject.name ?? '', message, data ?? '']);
    const ref = refOf(id);
    const url = this.pageOf(id);
    const [first, again] = wordings<T>({ ...subject, id, url, ring: records.ring });
    if (!canAsk(ctx, first(undefined).kind)) return first(undefined);
    const { pseudonym } = call;
    if (pseudonym === undefined) throw new CannotAsk(NOBODY);
    const keys = keysOf(call, first(undefined));
    if (keys.length > 1) throw new InvalidOption(sameWordsMessage(keys));
    const [key] = keys;
    if (key === undefined) {
      // Only here does one begin: an interaction whose time is over while its question is out stays over.
      await records.begin(ref, { pseudonym, message, data: subject.data });
      // What the user finished counts only for a key that asks now. An answer that was read before is kept, sealed.
      return first(undefined);
    }
    const response = ownEntry(ctx.mcpReq.inputResponses, key);
    // Where the user agreed to open the page, it is given some time: a client may answer at once.
    const agreed = (response as { readonly action?: unknown } | undefined)?.action === 'accept';
    const found = agreed ? await this.#waitForFinish(ref, ctx.mcpReq.signal) : await records.find(ref);
    const kept = found && call.isPseudonym(found.pseudonym) ? found : undefined;
    const tie = (to: StoredInteraction) => records.tie(ref, to, { key, call: subject.id && call.id });
    if (kept && hasOutcome(kept)) return first(await tie(kept));
    const refuses = isRefusal(first(undefined).read(response));
    const isLast = (call.timesAsked.get(key) ?? 0) >= maxAsks && kept?.stage !== 'finishing';
    const isOver = !kept || kept.stage === 'closed' || isLast;
    if (!refuses && !isOver) return again(kept);
    if (refuses) subject.refuse?.(url);
    // What the call has given up must not be finished afterwards.
    const left = await records.close(ref);
    if (left && hasOutcome(left)) return first(await tie(left));
    if (refuses) return first(left);
    throw new InteractionUnfinished(UNFINISHED);
  }

  /** Whether the round before asked about `subject`, with a link to the page with this id. */
  wasAsked<T>(call: Call, subject: Subject<T>, id: string): boolean {
    const [first] = wordings<T>({ ...subject, id, url: this.pageOf(id), ring: this.#options.records.ring });
    return keysOf(call, first(undefined)).length > 0;
  }

  /** Asks about `subject` in a handler that waits, and resolves with the answer's value. */
  async waitFor<T>(ctx: WaitingContext, key: string, subject: Subject<T>): Promise<T> {
    const { message, data } = subject;
    requireData('ask', data);
    const { kind } = subject.ask(message, this.pageOf('kind'));
    const canAsk = ctx.canAsk(kind as 'elicitation' | 'elicitation.url');
    const id = await ctx.once(`${key}: page`, () => this.#begin(canAsk, ctx.pseudonym, { message, data }));
    try {
      return await this.#askUntilFinished<T>(ctx, key, subject, id);
    } catch (error) {
      // The user refused, or the call is over: nobody reads what they would finish now.
      await this.#options.records.close(refOf(id)).catch(() => {});
      throw error;
    }
  }

  /** Asks until the user has finished, or may not any more. */
  async #askUntilFinished<T>(ctx: WaitingContext, key: string, subject: Subject<T>, id: string): Promise<T> {
    const [ref, url] = [refOf(id), this.pageOf(id)];
    for (let asked = 1; ; asked++) {
      const text = asked === 1 ? subject.message : `${AGAIN} ${subject.message}`;
      const response = await ctx.ask(key, withResponse(subject.ask(text, url)));
      // Recorded: a process that resumes the call of a dead one has to take the same way.
      const { stage, value } = await ctx.once(`${key}: visit ${asked}`, () =>
        this.#visit(ref, asked, ctx.signal),
      );
      if (stage === 'finished') return subject.valueFrom(value, response);
      if (stage === 'refused') {
        subject.noteRefusal?.(response, 'refused');
        throw new ElicitationDeclined('declined', key);
      }
      if (stage === 'closed') throw new InteractionUnfinished(UNFINISHED);
    }
  }

  /** Begins an interaction of a handler that waits. Only the call knows its id. */
  async #begin(
    canAsk: boolean,
    pseudonym: string | undefined,
    about: Pick<InteractionSubject, 'message' | 'data'>,
  ): Promise<string> {
    const id = randomBytes(16).toString('base64url');
    if (!canAsk) return id; // The question itself is refused in a moment.
    if (pseudonym === undefined) throw new CannotAsk(NOBODY);
    await this.#options.records.begin(refOf(id), { ...about, pseudonym });
    return id;
  }

  /** How far the user is on the page, and what came of it. Closes the page when its time, or the last visit, is over. */
  async #visit(ref: string, asked: number, signal: AbortSignal): Promise<InteractionProgress> {
    const found = await this.#waitForFinish(ref, signal);
    // The last visit. An aborted handler is refused its next question, and closes the page then.
    const isLast = asked >= this.#options.maxAsks && !signal.aborted;
    const { stage, value } = (isLast ? await this.#options.records.close(ref) : found) ?? CLOSED;
    return stage === 'finished' ? { stage, value } : { stage };
  }

  /** The interaction, when the user has finished or refused, or `waitSeconds` are over. */
  async #waitForFinish(ref: string, signal: AbortSignal): Promise<StoredInteraction | undefined> {
    const { records, waitSeconds } = this.#options;
    let left = waitSeconds * 1000;
    for (let pause = 50; ; pause = Math.min(pause * 2, 1000, left)) {
      const kept = await records.find(ref);
      if (!kept || !isOpen(kept) || left <= 0 || signal.aborted) return kept;
      await delay(pause, undefined, { signal }).catch(() => {});
      left -= pause;
    }
  }

  /** The address of the page with this id. */
  pageOf(id: string): URL {
    const url = this.#options.startPage();
    url.searchParams.set('id', id);
    return url;
  }
}

/** The keys under which the round before asked `question`. */
const keysOf = ({ asked = new Map() }: Call, question: Question): readonly string[] =>
  [...asked].filter(([, digest]) => isDigestOf(digest, question)).map(([key]) => key);

/**
 * Derived from the call's id, which never leaves the server, so nobody can guess it. Every round and instance derives the
 * same id without a store.
 */
const idOf = ({ id }: Call, about: readonly string[]): string =>
  hash('sha256', JSON.stringify(['interaction', id, ...about]), 'base64url').slice(0, 22);

/** Whether the user finished or refused on the page. */
const hasOutcome = ({ stage }: InteractionProgress): boolean => stage === 'finished' || stage === 'refused';

/** The text of `data`, the same for equal values. @throws InvalidOption for what is no JSON, or is too large. */
function requireData(what: string, data: unknown): string | undefined {
  if (data === undefined) return undefined;
  const text = jsonOf(data);
  if (text !== undefined && Buffer.byteLength(text) <= MAX_DATA_BYTES) return text;
  throw new InvalidOption(`${what}: data must be JSON of at most ${MAX_DATA_BYTES} bytes.`);
}

/** Undefined for what JSON would change: a date, for example, is another value when it comes back. */
function jsonOf(data: unknown): string | undefined {
  try {
    const text = canonicalJson(data);
    return canonicalJson(JSON.parse(JSON.stringify(data))) === text ? text : undefined;
  } catch {
    return undefined;
  }
}

const sameWordsMessage = (keys: readonly string[]): string =>
  `The page is asked under ${keys.map((key) => `'${key}'`).join(' and ')} with the same words. Give each question a \`name\`.`;

interface WordingOptions<T> extends Subject<T> {
  readonly id: string;
  readonly url: URL;
  readonly ring: KeyRing;
}

/** `question`, whose answer is the client's whole response. */
const withResponse = (question: Question): Question => ({
  ...question,
  read: (response) => {
    const answer = question.read(response);
    return answer.kind === 'accepted' ? { kind: 'accepted', value: response } : answer;
  },
});

type QuestionMaker<T> = (kept: StoredInteraction | undefined) => Question<T>;

/** The question as it goes out first, and as it goes out again. An answer to either is an answer to both. */
function wordings<T>(worded: WordingOptions<T>): readonly [first: QuestionMaker<T>, again: QuestionMaker<T>] {
  const { message, url } = worded;
  const plain = [message, `${AGAIN} ${message}`].map((text) => worded.ask(text, url));
  const [first, again] = plain as [Question, Question];
  const made =
    (one: Question, other: Question): QuestionMaker<T> =>
    (kept) =>
      ({ ...one, otherWording: other.digest, ...answering(worded, first, kept) }) as Question<T>;
  return [made(first, again), made(again, first)];
}

/**
 * How answers are read. A client's `accept` counts once the interaction is finished. Later rounds read what was kept,
 * whose content is sealed for this interaction: no client can make it up, and the store may have forgotten by then.
 */
function answering<T>(
  { id, ring, valueFrom, noteRefusal, fallback }: WordingOptions<T>,
  agreed: Question,
  kept: StoredInteraction | undefined,
) {
  const place = `answer ${id}`;
  const read = (response: unknown): Answer<T> => {
    const answer = agreed.read(response);
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
  const keep = (response: unknown) => {
    const answer = read(response);
    if (answer.kind !== 'accepted') return { action: answer.kind === 'cancelled' ? 'cancel' : 'decline' };
    const done = sealAtRest(JSON.stringify({ value: answer.value }), place, ring).toString('base64url');
    return { action: 'accept', content: { done } };
  };
  return { read, keep, ...(fallback !== undefined && { fallback }) };
}

/** The user did not finish a page in time, or was sent there as often as allowed. The message is for the user. */
export class InteractionUnfinished extends MrtrError {
  static override readonly code = 'interaction_unfinished';
}
