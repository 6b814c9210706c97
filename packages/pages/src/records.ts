/** Pending interactions on a store: sealed, each under a digest of its id, and changed by comparison only. */
import { hash } from 'node:crypto';
import { InvalidOption, MrtrError } from '@mrtr/core';
import { tellOperator } from '@mrtr/core/kit';
import { deriveName, derivePseudonym, type KeyRing, openAtRest, sealAtRest } from '@mrtr/core/seal';
import type { InteractionStore } from './store.ts';

/**
 * How far an interaction is. `waiting`: no browser has come, or it may come again. `started`: a browser was sent on.
 * `finishing`: it came back, and `finish` runs. `refused`: the user said no there. `closed`: the call has given it up.
 */
export type Stage = 'waiting' | 'started' | 'finishing' | 'finished' | 'refused' | 'closed';

/** What is known of an interaction. */
export interface InteractionProgress {
  readonly stage: Stage;
  /** The secret part of the `state` of the latest start. */
  readonly nonce?: string;
  readonly codeVerifier?: string;
  /** What `finish` gave. */
  readonly value?: unknown;
  /** The key under which the call asked what the user finished. No other key may use it. */
  readonly key?: string | undefined;
  /** The call that took it, where any call may come for it. */
  readonly call?: string | undefined;
}

/** What an interaction is about. Set when it begins. */
export interface InteractionSubject {
  /** The pseudonym of its user. */
  readonly pseudonym: string;
  /** The words of the question that the user agreed to. */
  readonly message: string;
  /** What the author's pages need to know of it. */
  readonly data?: unknown;
  /** Until when its user may come back, by the policy's clock, in milliseconds. */
  readonly endsAt: number;
}

/** An interaction as it was found. */
export interface StoredInteraction extends InteractionProgress, InteractionSubject {
  /** The stored text: the interaction is replaced only while it is this one. */
  readonly text: string;
}

/** When an interaction began, and when its user decided, in seconds since the epoch. */
export interface Times {
  readonly askedAt: number;
  readonly decidedAt: number;
}

/** The name of an interaction in the store and in `state`. Its id, which opens the start page, cannot be had from it. */
export const refOf = (id: string): string => hash('sha256', `ref ${id}`, 'base64url').slice(0, 22);

/** Whether the user may still finish. */
export const isOpen = ({ stage }: InteractionProgress): boolean =>
  ['waiting', 'started', 'finishing'].includes(stage);

/** @throws InvalidOption for a second key, which would take what was finished for the first. */
export function requireOneKey(first: string | undefined, key: string | undefined): void {
  if (key === undefined || first === key) return;
  throw new InvalidOption(
    `What the user finished on a page answered '${first}', so it does not answer '${key}'. ` +
      'Give each question of a call that has the same words a `name`.',
  );
}

/** Characters of a question that the start page shows: the rest of the record needs room as well. */
const MAX_SHOWN = 300;

/** How the interactions of one page are kept. */
export interface InteractionsOptions {
  readonly store: InteractionStore;
  readonly ring: () => KeyRing;
  /** The page's name. What was begun for another page does not open here. */
  readonly pageName: () => string;
  /** How long a user may take. */
  readonly ttlSeconds: number;
  /** How long a call can come back for what the user finished. */
  readonly stateTtlSeconds: number;
  /** The policy's clock, in milliseconds. */
  readonly now: () => number;
  /** Gets the errors of the store. */
  readonly onerror?: ((error: Error) => void) | undefined;
}

/** A store of pages failed. The message is for the user; `onerror` has got the store's error. */
export class StoreUnreachable extends MrtrError {
  static override readonly code = 'store_unreachable';
}

const UNREACHABLE = 'The pages of this server cannot be reached now. Try again later.';

/** The interactions of one page. */
export class Interactions {
  readonly #options: InteractionsOptions;

  constructor(options: InteractionsOptions) {
    this.#options = options;
  }

  get ring(): KeyRing {
    return this.#options.ring();
  }

  get pageName(): string {
    return this.#options.pageName();
  }

  /** Whether `pseudonym` is that of `principal`, under any key of the key ring. */
  isPseudonymOf(pseudonym: string, principal: string): boolean {
    return this.ring.some((key) => derivePseudonym(principal, key) === pseudonym);
  }

  /** What a form of the page has to send back: no other page knows it. */
  tokenOf(ref: string, principal: string): string {
    return deriveName('form', JSON.stringify([ref, this.pageName, principal]), this.ring[0]);
  }

  /** When an interaction began, and now, in seconds since the epoch. */
  timesOf({ endsAt }: InteractionSubject): Times {
    const { ttlSeconds, now } = this.#options;
    return { askedAt: Math.floor(endsAt / 1000) - ttlSeconds, decidedAt: Math.floor(now() / 1000) };
  }

  /** Begins an interaction, unless there is one. */
  async begin(ref: string, begun: Omit<InteractionSubject, 'endsAt'>): Promise<void> {
    const { store, ttlSeconds, now } = this.#options;
    const message =
      begun.message.length > MAX_SHOWN ? `${begun.message.slice(0, MAX_SHOWN)}…` : begun.message;
    const endsAt = now() + ttlSeconds * 1000;
    const value = this.#seal(ref, { ...begun, message, endsAt, stage: 'waiting' });
    await this.#reach(store.add({ id: ref, pseudonym: begun.pseudonym, value, ttlSeconds }));
  }

  /** An interaction; undefined for none, and for what was not sealed here. */
  async find(ref: string): Promise<StoredInteraction | undefined> {
    const text = await this.#reach(this.#options.store.find(ref));
    if (text === undefined) return undefined;
    const plain = openAtRest(Buffer.from(text, 'base64url'), this.#placeOf(ref), this.ring);
    return plain === undefined
      ? undefined
      : { ...(JSON.parse(plain) as Omit<StoredInteraction, 'text'>), text };
  }

  /**
   * Replaces what is known of an interaction; undefined when it is no longer there as it was found. While `finish` runs, its
   * time does not end. When it is over it gives back its place, and is kept as long as its call can come back for it.
   */
  async replace(
    ref: string,
    found: StoredInteraction,
    known: InteractionProgress,
  ): Promise<StoredInteraction | undefined> {
    const { text, pseudonym, message, data, endsAt } = found;
    const isOver = !isOpen(known);
    const next = { ...known, pseudonym, endsAt, ...(isOver ? { message: '' } : { message, data }) };
    const sealed = this.#seal(ref, next);
    const { store, stateTtlSeconds, now } = this.#options;
    const isLong = isOver || known.stage === 'finishing';
    const isBack = found.stage === 'finishing' && !isLong;
    const left = Math.max(0, Math.ceil((endsAt - now()) / 1000));
    const time = { pseudonym, ttlSeconds: isLong ? stateTtlSeconds : left, isOver };
    const replaced = await this.#reach(store.replace(ref, text, sealed, isLong || isBack ? time : undefined));
    return replaced ? { ...next, text: sealed } : undefined;
  }

  /**
   * Closes an interaction that its call has given up, unless something came of it. Tries again where a browser was faster.
   *
   * @returns the interaction as it is now
   */
  async close(ref: string): Promise<StoredInteraction | undefined> {
    for (;;) {
      const kept = await this.find(ref);
      const closed = kept && isOpen(kept) ? await this.replace(ref, kept, { stage: 'closed' }) : kept;
      if (closed || !kept) return closed;
    }
  }

  /**
   * Ties what came of an interaction to the key that reads it, and to the call that takes it, where any call may.
   *
   * @returns undefined where it is gone, or another call has taken it.
   * @throws InvalidOption when it is tied to another key.
   */
  async tie(
    ref: string,
    found: StoredInteraction,
    { key, call }: Pick<InteractionProgress, 'key' | 'call'>,
  ): Promise<StoredInteraction | undefined> {
    let kept: StoredInteraction | undefined = found;
    while (kept && (kept.call ?? call) === call) {
      const tied: InteractionProgress = { stage: kept.stage, value: kept.value, key: kept.key ?? key, call };
      requireOneKey(tied.key, key);
      if (kept.key === tied.key && kept.call === call) return kept;
      kept = (await this.replace(ref, kept, tied)) ?? (await this.find(ref));
    }
    return undefined;
  }

  /** @throws StoreUnreachable where the store fails: its own error may name hosts, and is not for a client. */
  async #reach<T>(request: Promise<T>): Promise<T> {
    try {
      return await request;
    } catch (error) {
      if (error instanceof MrtrError) throw error;
      tellOperator(error, this.#options.onerror);
      throw new StoreUnreachable(UNREACHABLE);
    }
  }

  #seal(ref: string, kept: Omit<StoredInteraction, 'text'>): string {
    return sealAtRest(JSON.stringify(kept), this.#placeOf(ref), this.ring).toString('base64url');
  }

  /** What is sealed for one page's interaction opens as no other's. */
  #placeOf(ref: string): string {
    return `interaction ${ref} of ${this.pageName}`;
  }
}
