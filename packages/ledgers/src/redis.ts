/** `@mrtr/ledgers/redis`: single-use request state for any number of instances, on Redis 7 or later. */
import { randomUUID } from 'node:crypto';
import { aBoolean, asError, ledgerFull, tellOperator, warnOnce } from '@mrtr/core/internal';
import type { LeaseDecision, LeaseRequest, StateLedger } from '@mrtr/core/seal';
import { CLOCK_SKEW_MS } from '@mrtr/core/seal';
import { type LedgerLimits, ledgerLimits } from './limits.ts';
import {
  entryOf,
  type RedisClient,
  type RedisStoreOptions,
  type RunScript,
  scriptRunner,
} from './redis-keys.ts';
import { BEGIN, LEASE, RELEASE, SETTLE } from './redis-scripts.ts';
import { checkDurability } from './redis-settings.ts';

export { RedisInteractions } from './redis-interactions.ts';
export type { RedisClient, RedisStoreOptions } from './redis-keys.ts';

/** The options of a {@link RedisLedger}. */
export interface RedisLedgerOptions extends RedisStoreOptions<LedgerLimits> {
  /**
   * Whether Redis writes each entry to disk before it answers (`appendonly yes`, `appendfsync always`), so that a restart
   * loses no entry. Default false: after each restart, the ledger rejects the calls that were open.
   */
  readonly durable?: boolean;
}

type Reply = readonly [
  kind: LeaseDecision['kind'] | 'all' | 'own',
  text?: string,
  answers?: string,
  /** The ledger's beginning. Absent if the lease did not need it. */
  began?: number,
  /** Whether the lease found the beginning, or wrote it. */
  beginning?: 'known' | 'begun',
];

/**
 * A ledger on Redis: one key for each presented token, which Redis deletes when the token expires. Set `appendonly yes`,
 * `appendfsync always` and `maxmemory-policy noeviction`; the ledger warns about other settings. If it may have lost
 * entries, it rejects the tokens that were issued before. Do not use a cluster: the scripts touch several keys.
 *
 * @example
 * import { requestStatePolicy } from '@mrtr/core';
 * import { RedisLedger } from '@mrtr/ledgers/redis';
 * import { createClient } from 'redis';
 *
 * const client = await createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1' }).connect();
 * const ledger = new RedisLedger(client);
 * await ledger.begin();
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY], ledger });
 */
export class RedisLedger implements StateLedger {
  readonly #client: RedisClient;
  readonly #run: RunScript;
  readonly #limits: ReturnType<typeof ledgerLimits>;
  readonly #claimsDurable: boolean;
  #begun: Promise<void>;
  /** The latest beginning that this instance saw. */
  #knownBeginning = 0;
  /** Whether this run of Redis is durable, unless its settings say otherwise. */
  #isDurable = false;

  /**
   * Writes the ledger's beginning, unless Redis has it. So connect the client first. The ledger rejects older tokens.
   *
   * @throws InvalidOption for a `client` without `eval`, and for a wrong option.
   */
  constructor(client: RedisClient, options: RedisLedgerOptions = {}) {
    this.#run = scriptRunner('RedisLedger', client, options, 'mrtr:ledger:', { durable: aBoolean });
    this.#limits = ledgerLimits('RedisLedger', options.limits);
    this.#client = client;
    this.#claimsDurable = options.durable ?? false;
    this.#begun = this.#begin();
    this.#begun.catch(warnOfBeginning);
  }

  /**
   * Waits until Redis has the ledger's beginning. Await it before you serve: the ledger may reject calls that begin earlier.
   *
   * @throws the client's error. A later call tries again.
   */
  async begin(): Promise<void> {
    try {
      await this.#begun;
    } catch {
      this.#begun = this.#begin();
      await this.#begun;
    }
  }

  /**
   * See {@link StateLedger.lease}.
   *
   * @throws StoreFull when the ledger is full; otherwise the client's error. Either rejects the request before it runs.
   */
  async lease(presented: LeaseRequest): Promise<LeaseDecision> {
    const { id, answers, issuedAt, expiresAt, leaseSeconds, pseudonym, now } = presented;
    const { entries, ownEntries } = this.#limits;
    // An anonymous caller has no index of its own. It counts in that of all, twice with the same effect.
    const [own, most] = pseudonym === undefined ? ['index', entries] : [`index:${pseudonym}`, ownEntries];
    const lease = randomUUID();
    const limits = [CLOCK_SKEW_MS, entries, most];
    const token = [
      id,
      answers,
      expiresAt,
      leaseSeconds * 1000,
      now,
      ...limits,
      pseudonym ?? '',
      lease,
      issuedAt,
    ];
    let reply: Reply;
    try {
      const keys = [entryOf(id), 'index', own, 'beginning'];
      reply = (await this.#run(LEASE, keys, [...token, ...this.#known])) as Reply;
    } catch (error) {
      // Redis may have given the lease, and only its reply was lost. Nobody else knows the lease, so give it back.
      this.release(id, lease).catch(tellOperator);
      throw error;
    }
    this.#noteBeginning(reply);
    return decisionOf(reply, lease);
  }

  /** See {@link StateLedger.settle}. */
  async settle(id: string, lease: string, result: string): Promise<void> {
    const { bytes, ownBytes } = this.#limits;
    await this.#run(SETTLE, [entryOf(id), 'bytes'], [lease, result, bytes, ownBytes]);
  }

  /** See {@link StateLedger.release}. */
  async release(id: string, lease: string): Promise<void> {
    await this.#run(RELEASE, [entryOf(id), 'index'], [lease, id]);
  }

  /** Reads the settings, and writes the beginning if it is missing. */
  async #begin() {
    this.#isDurable = (await checkDurability(this.#client)) && this.#claimsDurable;
    const [known, durable] = this.#known;
    const began = await this.#run(BEGIN, ['beginning'], [known, CLOCK_SKEW_MS, durable]);
    this.#knownBeginning = Math.max(this.#knownBeginning, Number(began));
  }

  #noteBeginning([, , , began, beginning]: Reply) {
    if (began === undefined) return;
    this.#knownBeginning = Math.max(this.#knownBeginning, began);
    if (beginning !== 'begun') return;
    // Redis lost the beginning, restarted (perhaps with other settings), or got a replica.
    this.#begun = this.#begin();
    this.#begun.catch(warnOfBeginning);
  }

  /** Arguments of the scripts: the beginning that this instance knew, and whether Redis is durable. */
  get #known(): [string, string] {
    return [this.#knownBeginning === 0 ? '' : String(this.#knownBeginning), this.#isDurable ? '1' : ''];
  }
}

const warnOfBeginning = (error: unknown) =>
  warnOnce(
    'MRTR_REDIS_NOT_REACHED',
    `RedisLedger could not write its beginning to Redis: ${asError(error).message}. Connect the ` +
      'client before you make the ledger. Until Redis is reached, calls are rejected; those that are open when it is ' +
      'reached may be rejected too.',
  );

function decisionOf([kind, text = '', answers = '']: Reply, lease: string): LeaseDecision {
  switch (kind) {
    case 'all':
    case 'own':
      throw ledgerFull(kind);
    case 'first':
      return { kind, lease };
    case 'settled':
      return { kind, result: text, answers };
    case 'clock-differs':
      return { kind, byMs: Number(text) };
    default:
      return { kind };
  }
}
