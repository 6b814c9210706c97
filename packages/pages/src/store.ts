/** `@mrtr/pages/store`: the interface of a store of your own. */

import { limitsOf, ownLimit } from '@mrtr/core/internal';

/** An interaction to keep. */
export interface InteractionRow {
  readonly id: string;
  /** The pseudonym of the user whose interaction it is: a keyed digest. */
  readonly pseudonym: string;
  /** The sealed record, in which a character is a byte. */
  readonly value: string;
  /** How long it is kept from now on, in seconds, by the store's own clock. */
  readonly ttlSeconds: number;
}

/** Keeps interactions for all instances that share it. */
export interface InteractionStore {
  /**
   * Keeps a new interaction.
   *
   * @returns false if the id exists. Its interaction stays as it is.
   * @throws StoreFull when the store is full, or the principal has too many open pages, or too many finished ones that are
   * still kept.
   */
  add(interaction: InteractionRow): Promise<boolean>;
  /** Finds the value. Undefined if the store has no value for this id, or if the value has expired. */
  find(id: string): Promise<string | undefined>;
  /**
   * Replaces the value and the time of an interaction, if its value still is `before`. Of several calls at once, one
   * succeeds.
   *
   * @param isOver whether it is finished, and so no longer counts as an open page.
   * @returns whether it replaced them.
   */
  replace(interaction: InteractionRow, before: string, isOver: boolean): Promise<boolean>;
}

/** The limits of a store. */
export interface InteractionLimits {
  /** Interactions at once. Default 100 000; 10 000 in memory. PostgreSQL counts them at each sweep. */
  readonly entries?: number;
  /**
   * The share of `entries` that one principal may have open, above 0 and at most 1: at least one page, rounded down. Default
   * 1/5000, or 1/500 in memory: 20 pages each. Ten times as many finished pages are kept for their calls.
   */
  readonly perPrincipal?: number;
}

/** How many finished pages of one principal are kept for each page that it may have open. */
const OVER_PER_OPEN = 10;
const OPEN_BY_DEFAULT = 20;

/**
 * Checks the limits that a store was given, and derives those of one principal: of its open pages (`ownOpen`), and of its
 * finished ones (`ownOver`).
 *
 * @param owner the store's class, for the message.
 * @param entriesByDefault the default of `entries`.
 * @throws InvalidOption for a wrong limit.
 */
export function interactionLimits(
  owner: string,
  given: InteractionLimits | undefined,
  entriesByDefault: number,
): { readonly entries: number; readonly ownOpen: number; readonly ownOver: number } {
  const defaults = { entries: entriesByDefault, perPrincipal: OPEN_BY_DEFAULT / entriesByDefault };
  const { entries, perPrincipal } = limitsOf(owner, given, defaults);
  const ownOpen = ownLimit(entries, perPrincipal);
  return { entries, ownOpen, ownOver: ownOpen * OVER_PER_OPEN };
}

/** The message of a full store. */
export const interactionsFullMessage = (full: 'own' | 'all'): string =>
  `${full === 'own' ? 'You have' : 'This server has'} too many pages open. Finish one, or try again later.`;
