/** Pending interactions on a store: sealed, each under a digest of its id, and replaced by compare-and-set only. */
import { hash } from 'node:crypto';
import { InvalidOption, MrtrError, type RequestStatePolicy, StoreFull } from '@mrtr/core';
import { deriveName, partsOf } from '@mrtr/core/internal';
import { derivePseudonym, keyRingOf, openAtRest, sealAtRest } from '@mrtr/core/seal';
import type { InteractionStore } from './store.ts';

/**
 * The progress of an interaction. `waiting`: no browser has come, or it may come again. `started`: the start page sent a
 * browser on. `finishing`: the browser came back, and `finish` runs. `refused`: the user refused on the page. `closed`:
 * the call has abandoned it.
 */
export type Stage = 'waiting' | 'started' | 'finishing' | 'finished' | 'refused' | 'closed';

export interface InteractionProgress {
  readonly stage: Stage;
  /** The secret part of the `state` of the latest start. */
  readonly nonce?: string;
  readonly codeVerifier?: string;
  /** The value of `finish`. */
  readonly value?: unknown;
  /** The key of the question that the user finished. No other key may use the outcome. */
  readonly key?: string | undefined;
  /** The call that used the outcome, if any call may. */
  readonly call?: string | undefined;
}

/** The subject of an interaction, set when it begins. */
export interface InteractionSubject {
  /** The pseudonym of its user. */
  readonly pseudonym: string;
  /** The words of the question. */
  readonly message: string;
  /** The author's data for the pages. */
  readonly data?: unknown;
  /** The time until which the user may come back, by the policy's clock, in milliseconds. */
  readonly endsAt: number;
}

/** An interaction as the store has it. */
export interface StoredInteraction extends InteractionProgress, InteractionSubject {
  /** Its name in the store; see {@link refOf}. */
  readonly ref: string;
  /** The stored text. The store replaces the interaction only while it has this text. */
  readonly text: string;
}

/** The start of an interaction and the user's decision, in seconds since the epoch. */
export interface Times {
  readonly askedAt: number;
  readonly decidedAt: number;
}

/** The name of an interaction in the store and in `state`. It does not reveal the id, which opens the start page. */
export const refOf = (id: string) => hash('sha256', `ref ${id}`, 'base64url').slice(0, 22);

/** Whether the user may still finish. */
export const isOpen = ({ stage }: InteractionProgress) => ['waiting', 'started', 'finishing'].includes(stage);

/** @throws InvalidOption for a second key, which would reuse the outcome of the first. */
export function requireOneKey(first: string | undefined, key: string | undefined) {
  if (key === undefined || first === key) return;
  throw new InvalidOption(
    `What the user finished on a page answered '${first}', so it does not answer '${key}'. ` +
      'Give each question of a call that has the same words a `name`.',
  );
}

/** How many characters of a question the start page shows. The rest of the record needs room too. */
const MAX_SHOWN = 300;
/** The size of a sealed record, in which a character is a byte. */
export const MAX_RECORD_BYTES = 8192;

export interface InteractionsOptions {
  readonly store: InteractionStore;
  /** Its keys seal the records, and its clock is theirs. A call can come back for the outcome while its state lives. */
  readonly policy: RequestStatePolicy;
  /** The page's name. An interaction of another page does not open here. */
  readonly pageName: () => string;
  /** How long a user may take to finish. */
  readonly ttlSeconds: number;
  /** Receives the store's errors. */
  readonly report: (error: unknown) => void;
}

/** A store of pages failed. The message is for the user; `onerror` receives the store's own error. */
export class StoreUnreachable extends MrtrError {
  static override readonly code = 'store_unreachable';
}

const UNREACHABLE = 'The pages of this server cannot be reached now. Try again later.';

/** The interactions of one page. */
export function interactionsOf({ store, policy, pageName, ttlSeconds, report }: InteractionsOptions) {
  const now = partsOf(policy).now;
  const ring = () => keyRingOf(policy);

  /** Whether `pseudonym` belongs to `principal`, under any key of the key ring. */
  function isPseudonymOf(pseudonym: string, principal: string) {
    return ring().some((key) => derivePseudonym(principal, key) === pseudonym);
  }

  /** The token that a form of the page must send back. No other page knows it. */
  function tokenOf(ref: string, principal: string) {
    return deriveName('form', JSON.stringify([ref, pageName(), principal]), ring()[0]);
  }

  function timesOf({ endsAt }: InteractionSubject): Times {
    return { askedAt: Math.floor(endsAt / 1000) - ttlSeconds, decidedAt: Math.floor(now() / 1000) };
  }

  /** Begins an interaction, unless it exists. */
  async function begin(ref: string, begun: Omit<InteractionSubject, 'endsAt'>) {
    const message =
      begun.message.length > MAX_SHOWN ? `${begun.message.slice(0, MAX_SHOWN)}…` : begun.message;
    const endsAt = now() + ttlSeconds * 1000;
    const value = seal(ref, { ...begun, message, endsAt, stage: 'waiting' });
    await reach(store.add({ id: ref, pseudonym: begun.pseudonym, value, ttlSeconds }));
  }

  /** Finds an interaction. Undefined if the store has none with this id, or if it was sealed for another page. */
  async function find(ref: string): Promise<StoredInteraction | undefined> {
    const text = await reach(store.find(ref));
    if (text === undefined) return undefined;
    const plain = openAtRest(Buffer.from(text, 'base64url'), placeOf(ref), ring());
    if (plain === undefined) return undefined;
    return { ...(JSON.parse(plain) as InteractionProgress & InteractionSubject), ref, text };
  }

  /**
   * Replaces the progress of an interaction. Returns undefined if it has changed since it was read. It does not expire
   * while `finish` runs. A finished one no longer counts as open, and is kept while its call can come back for it.
   */
  async function replace(
    found: StoredInteraction,
    known: InteractionProgress,
  ): Promise<StoredInteraction | undefined> {
    const { ref, text, pseudonym, message, data, endsAt } = found;
    const isOver = !isOpen(known);
    const next = { ...known, pseudonym, endsAt, ...(isOver ? { message: '' } : { message, data }) };
    const sealed = seal(ref, next);
    const left = Math.max(0, Math.ceil((endsAt - now()) / 1000));
    const ttlSeconds = isOver || known.stage === 'finishing' ? partsOf(policy).ttlSeconds : left;
    const replaced = await reach(
      store.replace({ id: ref, pseudonym, value: sealed, ttlSeconds }, text, isOver),
    );
    return replaced ? { ...next, ref, text: sealed } : undefined;
  }

  /**
   * Closes an interaction that its call has abandoned, unless it has an outcome. Tries again if a browser was faster.
   *
   * @returns the interaction after that.
   */
  async function close(ref: string): Promise<StoredInteraction | undefined> {
    for (;;) {
      const kept = await find(ref);
      const closed = kept && isOpen(kept) ? await replace(kept, { stage: 'closed' }) : kept;
      if (closed || !kept) return closed;
    }
  }

  /**
   * Ties the outcome of an interaction to the key that reads it and, if any call may use it, to the call.
   *
   * @returns undefined if it is gone, or another call has used it.
   * @throws InvalidOption if it is tied to another key.
   */
  async function assignToCall(
    found: StoredInteraction,
    { key, call }: Pick<InteractionProgress, 'key' | 'call'>,
  ) {
    let kept: StoredInteraction | undefined = found;
    while (kept && (kept.call ?? call) === call) {
      const tied: InteractionProgress = { stage: kept.stage, value: kept.value, key: kept.key ?? key, call };
      requireOneKey(tied.key, key);
      if (kept.key === tied.key && kept.call === call) return kept;
      kept = (await replace(kept, tied)) ?? (await find(found.ref));
    }
    return undefined;
  }

  /** @throws StoreUnreachable if the store fails. The client must not see the store's own error, which may name hosts. */
  async function reach<T>(request: Promise<T>) {
    try {
      return await request;
    } catch (error) {
      if (error instanceof MrtrError) throw error;
      report(error);
      throw new StoreUnreachable(UNREACHABLE);
    }
  }

  /** @throws StoreFull for a record that is too large. With the limits of a store, this bounds the whole store. */
  function seal(ref: string, kept: InteractionProgress & InteractionSubject) {
    const text = sealAtRest(JSON.stringify(kept), placeOf(ref), ring()).toString('base64url');
    if (text.length <= MAX_RECORD_BYTES) return text;
    throw new StoreFull(`An interaction would hold ${text.length} bytes; ${MAX_RECORD_BYTES} are allowed.`);
  }

  /** Binds a sealed record to its page and its interaction. */
  function placeOf(ref: string) {
    return `interaction ${ref} of ${pageName()}`;
  }

  return { ring, pageName, isPseudonymOf, tokenOf, timesOf, begin, find, replace, close, assignToCall };
}

export type Interactions = ReturnType<typeof interactionsOf>;
