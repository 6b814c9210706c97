/** `@mrtr/pages/store`: for a store of your own, which keeps interactions beside the calls that wait for them. */

import { StoreFull } from '@mrtr/core';
import type { QuotaExceeded } from '@mrtr/core/kit';

/** An interaction that begins. */
export interface NewInteraction {
  readonly id: string;
  /** The pseudonym of the user whose interaction it is: a keyed digest. */
  readonly pseudonym: string;
  /** What is kept. It is sealed, so a character is a byte. */
  readonly value: string;
  /** How long it is kept, in seconds, by the store's own clock. */
  readonly ttlSeconds: number;
}

/** Keeps interactions for all instances that share it. */
export interface InteractionStore {
  /**
   * Keeps a new interaction.
   *
   * @returns false when there is one of this id, which stays as it is.
   * @throws StoreFull when there is no room, for anybody or for this principal, or when the value is too large. There is
   * none for a principal who has too many pages open, or too many that are over and still kept.
   */
  add(interaction: NewInteraction): Promise<boolean>;
  /** The value that is kept; undefined when there is none, or when its time is over. */
  find(id: string): Promise<string | undefined>;
  /**
   * Replaces the value if it still is `before`; its time goes on. Of several at once, one succeeds.
   *
   * @param time sets its time anew, and says whether it still counts as an open page.
   * @returns whether it did.
   * @throws StoreFull when the value is too large.
   */
  replace(id: string, before: string, after: string, time?: NewTime): Promise<boolean>;
}

/** The time of an interaction, set anew. */
export interface NewTime {
  /** The pseudonym of the user whose interaction it is. */
  readonly pseudonym: string;
  /** How long it is kept from now on, in seconds. */
  readonly ttlSeconds: number;
  /** Whether it is over: then it counts no more as an open page. */
  readonly isOver: boolean;
}

/** @throws StoreFull for a value that is larger than one may be. */
export function requireInteractionFits(value: string, maxValueBytes: number): void {
  if (value.length <= maxValueBytes) return;
  throw new StoreFull(`An interaction would hold ${value.length} bytes; ${maxValueBytes} are allowed.`);
}

/** The message of a store without room. */
export const interactionsFullMessage = (full: QuotaExceeded): string =>
  `${full === 'own' ? 'You have' : 'This server has'} too many pages open. Finish one, or try again later.`;
