/** The record of a call's settled steps: what travels in `requestState`, and what a replay is held against. */
import { type InputRequests, MrtrError, ownEntry, type Question, questionDigest } from '@mrtr/core';
import { bareRecord } from '../shape.ts';

/** What kind of step a key names. */
export type StepKind = 'ask' | 'run' | 'now' | 'random' | 'uuid';

/**
 * One step: its kind, then what is kept of it. A question: its digest and the bare response. An effect: its value in a
 * list of one (empty for undefined), or its failure as `[name, message]`; nothing if it is to be retried. The rest: the
 * value.
 */
export type Entry =
  | readonly ['ask', digest: string, response: unknown]
  | EffectEntry
  | readonly ['now' | 'random' | 'uuid', value: unknown];

/** An effect's {@link Entry}. */
export type EffectEntry = readonly [
  'run',
  value?: readonly unknown[],
  failure?: readonly [name: string, message: string],
];

/**
 * The handler did not do again what its journal says it did: it was changed while the call was under way, or it
 * depends on something that is not journaled. Nothing executes after this in the call.
 */
export class JournalDiverged extends MrtrError {
  readonly code = 'journal_diverged';
  /** The step at which the two part. */
  readonly key: string;
  /** What the journal has under that key; undefined for nothing. */
  readonly recorded: string | undefined;
  /** What the handler did there; undefined for nothing. */
  readonly came: string | undefined;
  constructor(key: string, recorded: string | undefined, came: string | undefined) {
    super(
      `The call cannot go on: at step '${key}' the journal has ${recorded ?? 'nothing'}, and the handler came with ` +
        `${came ?? 'nothing'}. It was changed since, or depends on what is not journaled. Start the call again.`,
    );
    this.key = key;
    this.recorded = recorded;
    this.came = came;
  }
}

/** Settled steps by key, the questions of the round before, and which of them this replay has reached. */
export class Journal {
  readonly entries: Record<string, Entry>;
  readonly #asked: Readonly<Record<string, string>>;
  readonly #responses: Readonly<Record<string, unknown>> | undefined;
  readonly #unreached: Set<string>;

  /**
   * @param saved what {@link save} gave in the round before.
   * @param responses the answers of this round.
   */
  constructor(
    saved: Readonly<Record<string, unknown>> | undefined,
    responses: Record<string, unknown> | undefined,
  ) {
    this.entries = bareRecord<Entry>(saved?.j);
    this.#asked = bareRecord<string>(saved?.q);
    this.#responses = responses;
    this.#unreached = new Set(Object.keys(this.entries));
  }

  /** A recorded step that this replay has not come to. */
  get unreached(): string | undefined {
    return this.#unreached.values().next().value;
  }

  /**
   * The record of a step that the replay has come to, or undefined for a new one.
   *
   * @throws JournalDiverged when the record is of another kind.
   */
  reach(key: string, kind: StepKind): Entry | undefined {
    const entry = this.entries[key];
    this.#unreached.delete(key);
    if (entry && entry[0] !== kind) throw new JournalDiverged(key, described(entry[0]), described(kind));
    return entry;
  }

  /** This round's response to `question`, if it was asked under `key` and in these words in the round before. */
  response(key: string, question: Question): unknown {
    return this.#asked[key] === question.digest ? ownEntry(this.#responses, key) : undefined;
  }

  /** What to keep when `requests` go out. */
  save(requests: InputRequests): { q: Record<string, string>; j: Record<string, Entry> } {
    const asked = Object.entries(requests).map(([key, request]) => [key, questionDigest(request)]);
    return { q: Object.fromEntries(asked) as Record<string, string>, j: { ...this.entries } };
  }

  /** The keys of the steps that take the most room, the largest first. */
  largest(count: number): readonly { readonly key: string; readonly bytes: number }[] {
    return Object.entries(this.entries)
      .map(([key, entry]) => ({ key, bytes: Buffer.byteLength(JSON.stringify([key, entry])) }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, count);
  }
}

/** A kind of step, in words. */
export const described = (kind: StepKind): string =>
  ({ ask: 'a question', run: 'an effect', now: 'a time', random: 'a random number', uuid: 'a UUID' })[kind];
