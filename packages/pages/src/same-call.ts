/**
 * Finds the approval of a call again when the client repeats the call: with the same principal, server, tool, arguments
 * and words. An approval counts for one call. Each further one has its own record, and so its own link.
 */
import { CannotAsk, StoreFull } from '@mrtr/core';
import { deriveName } from '@mrtr/core/internal';
import type { Call } from '@mrtr/core/shape';
import { NOBODY } from './page-questions.ts';
import {
  type InteractionSubject,
  type Interactions,
  isOpen,
  refOf,
  requireOneKey,
  type StoredInteraction,
  type Times,
} from './records.ts';

/** How long an approval waits for its call. */
export const RESUME_SECONDS = 60;
/** How often the same call can be approved while its records are kept. */
const MAX_APPROVALS = 20;
const USED = 'This approval was used. Call again to get a page of your own.';
const FULL = 'This call was approved very often within a short time. Try again later.';

interface Wanted {
  readonly records: Interactions;
  readonly call: Call;
  /** The words, and the other facts that make it the same call. */
  readonly about: readonly string[];
  /** Whether the previous round asked with the link of this id. */
  readonly wasAsked: (id: string) => boolean;
}

/**
 * Finds the record of the link that this call was sent. If the call was sent no link, finds the first record that is
 * unfinished, unused, or used by this call.
 *
 * @throws CannotAsk for a caller without a principal.
 * @throws StoreFull if the same call was approved too often.
 */
export async function findSameCall({ records, call, about, wasAsked }: Wanted) {
  const { pseudonym, audience, method, target } = call;
  if (pseudonym === undefined) throw new CannotAsk(NOBODY);
  const { argumentsDigest } = call.stamp('');
  const facts = [pseudonym, audience, method, target, argumentsDigest, records.pageName(), ...about];
  const text = JSON.stringify(['same call', ...facts]);
  // Derive the ids with a key: a client knows the rest, and must not know another client's link.
  const ids = Array.from({ length: MAX_APPROVALS }, (_, count) =>
    deriveName('same call', `${text} ${count}`, records.ring()[0]),
  );
  const isForThisCall = (kept: StoredInteraction) => {
    if (kept.call !== undefined) return kept.call === call.id;
    if (isOpen(kept)) return true;
    if (kept.stage !== 'finished') return kept.stage === 'refused';
    return records.timesOf(kept).decidedAt <= (kept.value as Times).decidedAt + RESUME_SECONDS;
  };
  const asked = call.round === 1 ? undefined : ids.find((id) => wasAsked(id));
  for (const id of asked === undefined ? ids : [asked, ...ids]) {
    const kept = await records.find(refOf(id));
    // A call keeps its link, even if other records have expired.
    const keepsLink = id === asked && kept?.call === undefined;
    if (keepsLink || !kept || isForThisCall(kept)) return approvalRecord(records, call, id, kept);
  }
  throw new StoreFull(FULL);
}

/** The approval record that a call uses. */
function approvalRecord(records: Interactions, call: Call, id: string, found: StoredInteraction | undefined) {
  let kept = found;
  const ref = refOf(id);
  const readers = READERS.get(call) ?? new Map<string, string | undefined>();
  READERS.set(call, readers);
  return {
    /** The id in the link. */
    id,

    /** Begins the record, so that the user can open its page. */
    async begin(begun: Pick<InteractionSubject, 'message' | 'data'>) {
      if (!kept) await records.begin(ref, { ...begun, pseudonym: call.pseudonym ?? '' });
    },

    /**
     * Uses up the decision for this call. Returns undefined until somebody has decided.
     *
     * @throws StoreFull if another call has used it.
     */
    async take() {
      if (!kept || isOpen(kept)) return undefined;
      // An earlier round used it, under a key that the store does not know.
      const isUsed = kept.call !== undefined && kept.key === undefined && !readers.has(id);
      const taken = isUsed ? undefined : await records.assignToCall(kept, { call: call.id });
      if (!taken) throw new StoreFull(USED);
      kept = taken;
      readers.set(id, readers.get(id) ?? taken.key);
      return taken.stage === 'finished' ? (taken.value as Times) : 'refused';
    },

    /**
     * Ties the decision to the key that reads it. Readers cannot wait, so the store records the key afterwards. If that
     * fails, a later round is rejected.
     *
     * @throws InvalidOption for a second key.
     */
    readUnder(key: string) {
      const first = readers.get(id);
      requireOneKey(first ?? key, key);
      if (first !== undefined) return;
      readers.set(id, key);
      records.assignToCall(kept as StoredInteraction, { key, call: call.id }).catch(() => {});
    },
  };
}

/** For each round, the approvals that it used, by id, and the keys that read them. */
const READERS = new WeakMap<Call, Map<string, string | undefined>>();
