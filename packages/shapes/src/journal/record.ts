/** The record of a call's finished steps. It travels in `requestState`, and each replay is compared with it. */
import { MrtrError, type Question } from '@mrtr/core';
import { ownEntry } from '@mrtr/core/internal';
import { type Call, isDigestOf } from '@mrtr/core/shape';
import type { Recorded } from '../kit/recorded.ts';
import { bareRecord } from '../kit/state.ts';

/** The kinds of steps. */
export type StepKind = 'ask' | 'once' | 'now' | 'random' | 'uuid';

/**
 * One step: its kind, then its record. A question records its digest and the bare response (none if `fallback` was the
 * answer). An effect records its value in a list of one (empty for undefined), or its failure as `[name, message]`.
 * Other steps record the value.
 */
export type StepRecord = AskRecord | EffectRecord | readonly ['now' | 'random' | 'uuid', value: unknown];

/** A question's {@link StepRecord}. */
export type AskRecord = readonly ['ask', digest: string, response?: unknown];

/** An effect's {@link StepRecord}. */
export type EffectRecord = readonly [
  'once',
  value?: Recorded,
  failure?: readonly [name: string, message: string],
];

/**
 * A replay did not reach the steps in its journal: the handler was changed during the call, or it depends on a value
 * that is not journaled. The call executes nothing more.
 */
export class JournalDiverged extends MrtrError {
  static override readonly code = 'journal_diverged';
  /** The key of the first step that differs. */
  readonly key: string;
  /** The journal's record under that key, if any. */
  readonly recorded: string | undefined;
  /** The step that the handler took instead, if any. */
  readonly came: string | undefined;
  constructor(key: string, recorded: string | undefined, came: string | undefined) {
    super(
      `This call cannot be resumed: at step '${key}' its journal has ${recorded ?? 'nothing'}, and the handler took ` +
        `${came ?? 'no step'}. The handler was changed meanwhile, or depends on a value that is not journaled. Start ` +
        'the call again.',
    );
    this.key = key;
    this.recorded = recorded;
    this.came = came;
  }
}

/**
 * Holds the finished steps and the questions of the round before, and records which of them this replay has reached.
 */
export class Journal {
  readonly entries: Record<string, StepRecord>;
  readonly #asked: Call['asked'];
  readonly #responses: Readonly<Record<string, unknown>> | undefined;
  readonly #unreached: Set<string>;

  /**
   * @param saved the entries that an earlier round kept.
   * @param asked the questions of the round before.
   * @param responses the answers of this round.
   */
  constructor(saved: unknown, asked: Call['asked'], responses: Record<string, unknown> | undefined) {
    this.entries = bareRecord<StepRecord>(saved);
    this.#asked = asked;
    this.#responses = responses;
    this.#unreached = new Set(Object.keys(this.entries));
  }

  /** A recorded step that this replay has not reached. */
  get unreached(): string | undefined {
    return this.#unreached.values().next().value;
  }

  /**
   * The record of a step that the replay has reached, or undefined for a new one.
   *
   * @throws JournalDiverged when the record is of another kind.
   */
  reach(key: string, kind: StepKind): StepRecord | undefined {
    const entry = this.entries[key];
    this.#unreached.delete(key);
    if (entry && entry[0] !== kind)
      throw new JournalDiverged(key, describeStep(entry[0]), describeStep(kind));
    return entry;
  }

  /** This round's response to `question`, if the round before asked it under `key` in the same words. */
  response(key: string, question: Question) {
    const isAsked = this.#asked === undefined || isDigestOf(this.#asked.get(key), question);
    return isAsked ? ownEntry(this.#responses, key) : undefined;
  }

  /** Whether the round before asked another question under `key`. */
  isReworded(key: string, question: Question) {
    return !isDigestOf(this.#asked?.get(key) ?? question.digest, question);
  }

  /** The keys of the effects that have run. */
  get effects(): readonly string[] {
    return Object.keys(this.entries).filter((key) => this.entries[key]?.[0] === 'once');
  }

  /** The largest steps, in descending order. */
  largest(count: number): readonly { readonly key: string; readonly bytes: number }[] {
    return Object.entries(this.entries)
      .map(([key, entry]) => ({ key, bytes: Buffer.byteLength(JSON.stringify([key, entry])) }))
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, count);
  }
}

/** A kind of step, as text. */
export const describeStep = (kind: StepKind) =>
  ({ ask: 'a question', once: 'an effect', now: 'a time', random: 'a random number', uuid: 'a UUID' })[kind];
