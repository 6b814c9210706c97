/** Pending interactions on a store: sealed, each under a digest of its id, and changed by comparison only. */
import { hash } from 'node:crypto';
import { openAtRest, type SealingKey, sealAtRest } from '@mrtr/core/seal';
import type { InteractionStore } from './store.ts';

/**
 * How far an interaction is. `waiting`: no browser has come, or it may come again. `started`: a browser was sent on.
 * `finishing`: it came back, and `finish` runs. `refused`: the user said no there. `closed`: the call has given it up.
 */
export type Stage = 'waiting' | 'started' | 'finishing' | 'finished' | 'refused' | 'closed';

/** What is known of an interaction. */
export interface Known {
  readonly stage: Stage;
  /** The secret part of the `state` of the latest start. */
  readonly nonce?: string;
  readonly codeVerifier?: string;
  /** What `finish` gave. */
  readonly value?: unknown;
}

/** An interaction as it was found. */
export interface StoredInteraction extends Known {
  /** A keyed digest of the identity of its user. */
  readonly principal: string;
  /** The stored text: the interaction is replaced only while it is this one. */
  readonly text: string;
}

/** The name of an interaction in the store and in `state`. Its id, which opens the start page, cannot be had from it. */
export const refOf = (id: string): string => hash('sha256', `ref ${id}`, 'base64url').slice(0, 22);

/** Whether the user may still finish. */
export const isOpen = ({ stage }: Known): boolean => ['waiting', 'started', 'finishing'].includes(stage);

/** The interactions of one server. */
export class Interactions {
  readonly ring: readonly SealingKey[];
  readonly #store: InteractionStore;
  readonly #ttlSeconds: number;

  constructor(store: InteractionStore, ring: readonly SealingKey[], ttlSeconds: number) {
    this.#store = store;
    this.ring = ring;
    this.#ttlSeconds = ttlSeconds;
  }

  /** Begins an interaction, unless there is one. */
  async begin(ref: string, principal: string): Promise<void> {
    const value = this.#seal(ref, { stage: 'waiting', principal });
    await this.#store.add({ id: ref, principal, value, ttlSeconds: this.#ttlSeconds });
  }

  /** An interaction; undefined for none, and for what was not sealed here. */
  async find(ref: string): Promise<StoredInteraction | undefined> {
    const text = await this.#store.find(ref);
    const plain =
      text === undefined ? undefined : openAtRest(Buffer.from(text, 'base64url'), placeOf(ref), this.ring);
    return plain === undefined
      ? undefined
      : { ...(JSON.parse(plain) as Omit<StoredInteraction, 'text'>), text: text ?? '' };
  }

  /** Replaces what was found; undefined when it is no longer there as it was. */
  async replace(
    ref: string,
    { text, principal }: StoredInteraction,
    known: Known,
  ): Promise<StoredInteraction | undefined> {
    const next = this.#seal(ref, { ...known, principal });
    return (await this.#store.replace(ref, text, next)) ? { ...known, principal, text: next } : undefined;
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

  #seal(ref: string, kept: Omit<StoredInteraction, 'text'>): string {
    return sealAtRest(JSON.stringify(kept), placeOf(ref), this.ring).toString('base64url');
  }
}

const placeOf = (ref: string): string => `interaction ${ref}`;
