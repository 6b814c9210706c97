/** `@mrtr/pages/store`: the interface of a store of your own. */

import { StoreFull } from '@mrtr/core';
import type { QuotaExceeded } from '@mrtr/core/internal';

/** A new interaction. */
export interface NewInteraction {
  readonly id: string;
  /** The pseudonym of the user whose interaction it is: a keyed digest. */
  readonly pseudonym: string;
  /** The sealed record, in which a character is a byte. */
  readonly value: string;
  /** How long it is kept, in seconds, by the store's own clock. */
  readonly ttlSeconds: number;
}

/** Keeps interactions for all instances that share it. */
export interface InteractionStore {
  /**
   * Keeps a new interaction.
   *
   * @returns false if the id exists. Its interaction stays as it is.
   * @throws StoreFull when the store is full, the value is too large, or the principal has too many open pages, or too
   * many finished ones that are still kept.
   */
  add(interaction: NewInteraction): Promise<boolean>;
  /** Finds the value. Undefined if the store has no value for this id, or if the value has expired. */
  find(id: string): Promise<string | undefined>;
  /**
   * Replaces the value if it still is `before`. Of several calls at once, one succeeds.
   *
   * @param time a new expiry, and whether it still counts as an open page. Default: both stay.
   * @returns whether it replaced the value.
   * @throws StoreFull if the value is too large.
   */
  replace(id: string, before: string, after: string, time?: NewTime): Promise<boolean>;
}

/** A new expiry of an interaction. */
export interface NewTime {
  /** The pseudonym of the user whose interaction it is. */
  readonly pseudonym: string;
  /** How long it is kept from now on, in seconds. */
  readonly ttlSeconds: number;
  /** Whether it is finished, and so no longer counts as an open page. */
  readonly isOver: boolean;
}

/** @throws StoreFull if the value is too large. */
export function requireInteractionFits(value: string, maxValueBytes: number): void {
  if (value.length <= maxValueBytes) return;
  throw new StoreFull(`An interaction would hold ${value.length} bytes; ${maxValueBytes} are allowed.`);
}

/** The message of a full store. */
export const interactionsFullMessage = (full: QuotaExceeded): string =>
  `${full === 'own' ? 'You have' : 'This server has'} too many pages open. Finish one, or try again later.`;
