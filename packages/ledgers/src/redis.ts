/** `@mrtr/ledgers/redis`: single-use request state for any number of instances, on Redis 7 or later. */
import { randomUUID } from 'node:crypto';
import { StoreFull } from '@mrtr/core';
import {
  anObjectWith,
  aText,
  requireArgument,
  requireOptions,
  tellOperator,
  warnOnce,
  wholeNumber,
} from '@mrtr/core/kit';
import type { LeaseDecision, LeaseRequest, StateLedger } from '@mrtr/core/seal';
import { CLOCK_SKEW_MS, ledgerFull } from '@mrtr/core/seal';
import type { RedisClient } from './redis-client.ts';
import { BEGIN, CLAIM, NOTE_DURABLE, RELEASE, SETTLE } from './redis-scripts.ts';
import { checkSettings } from './redis-settings.ts';

export type { RedisClient } from './redis-client.ts';
export { RedisInteractions, type RedisInteractionsOptions } from './redis-interactions.ts';

/** The options of a {@link RedisLedger}. */
export interface RedisLedgerOptions {
  /** The beginning of every key. Default `mrtr:ledger:`. Servers that share keys and audience must share it. */
  readonly prefix?: string;
  /** Tokens remembered at once. Default 1 000 000. */
  readonly maxEntries?: number;
  /** The same, of one principal. Default 1000. Anonymous callers share `maxEntries`. */
  readonly maxEntriesPerPrincipal?: number;
  /** Bytes of all recorded results. Default 256 MiB. A result without room is not kept: its token counts as lost. */
  readonly maxBytes?: number;
  /** The same, of one principal. Default 4 MiB. Anonymous callers share `maxBytes`. */
  readonly maxBytesPerPrincipal?: number;
}

type Reply = readonly [
  kind: LeaseDecision['kind'] | 'all' | 'own',
  text?: string,
  answers?: string,
  /** The ledger's beginning. Absent if the claim did not need it. */
  began?: number,
  /** Whether the claim found the beginning, or wrote it. */
  beginning?: 'known' | 'begun',
];

/**
 * A ledger on Redis: one key for each presented token, which Redis deletes when the token expires. Set `appendonly yes`,
 * `appendfsync always` and `maxmemory-policy noeviction`: the ledger warns if it reads other settings. A ledger that may
 * have lost entries refuses the tokens that were issued before. Do not use a cluster: the scripts touch several keys.
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
  readonly #prefix: string;
  readonly #limits: readonly [all: number, own: number];
  readonly #bytes: readonly [all: string, own: string];
  #begun: Promise<void>;
  /** The latest beginning that this instance saw. */
  #knownBeginning = 0;
  /** The master_replid of the Redis that it began on. */
  #replid = '';
  #notedAt = 0;

  /**
   * Writes the ledger's beginning, unless Redis has it: tokens that are older are refused. So connect the client first.
   *
   * @throws InvalidOption for a `client` without `eval`, and for a wrong option.
   */
  constructor(client: RedisClient, options: RedisLedgerOptions = {}) {
    requireArgument('RedisLedger', 'client', client, anObjectWith('eval'));
    requireOptions<RedisLedgerOptions>('RedisLedger', options, {
      prefix: aText,
      maxEntries: wholeNumber(),
      maxEntriesPerPrincipal: wholeNumber(),
      maxBytes: wholeNumber(),
      maxBytesPerPrincipal: wholeNumber(),
    });
    const { prefix = 'mrtr:ledger:', maxEntries = 1_000_000, maxEntriesPerPrincipal = 1000 } = options;
    const { maxBytes = 268_435_456, maxBytesPerPrincipal = 4_194_304 } = options;
    this.#client = client;
    this.#prefix = prefix;
    this.#limits = [maxEntries, maxEntriesPerPrincipal];
    this.#bytes = [String(maxBytes), String(maxBytesPerPrincipal)];
    this.#begun = this.#begin();
    this.#begun.catch(warnOfBeginning);
  }

  /**
   * Waits until Redis has the ledger's beginning. Await it before you serve: a call that begins earlier can be refused.
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
   * See {@link StateLedger.claim}.
   *
   * @throws StoreFull when there is no room; otherwise the client's error. Then the request is refused, and does not
   * run.
   */
  async claim({
    id,
    answers,
    issuedAt,
    expiresAt,
    leaseSeconds,
    principal,
    now,
  }: LeaseRequest): Promise<LeaseDecision> {
    const [all, own] = this.#limits;
    const limits = [all, principal === undefined ? 0 : own];
    const index = principal === undefined ? 'index' : `index:${principal}`;
    const numbers = [expiresAt, leaseSeconds * 1000, now, CLOCK_SKEW_MS, ...limits].map(String);
    const lease = randomUUID();
    let reply: Reply;
    try {
      reply = (await this.#client.eval(CLAIM, {
        keys: [this.#entry(id), `${this.#prefix}index`, this.#prefix + index, this.#beginning],
        arguments: [id, answers, ...numbers, principal ?? '', lease, String(issuedAt), this.#knew],
      })) as Reply;
    } catch (error) {
      // Redis may have given the lease, and only its reply was lost. Nobody else knows the lease, so give it back.
      this.release(id, lease).catch(tellOperator);
      throw error;
    }
    this.#noteBeginning(reply);
    return claimOf(reply, lease);
  }

  /** See {@link StateLedger.settle}. */
  async settle(id: string, lease: string, result: string): Promise<void> {
    await this.#client.eval(SETTLE, {
      keys: [this.#entry(id), `${this.#prefix}bytes`],
      arguments: [lease, result, ...this.#bytes],
    });
  }

  /** See {@link StateLedger.release}. */
  async release(id: string, lease: string): Promise<void> {
    const keys = [this.#entry(id), `${this.#prefix}index`];
    await this.#client.eval(RELEASE, { keys, arguments: [lease, id] });
  }

  /** Writes the beginning where it is missing, and notes whether this run of Redis can lose entries. */
  async #begin(): Promise<void> {
    const reply = await this.#client.eval(BEGIN, {
      keys: [this.#beginning],
      arguments: [this.#knew, String(CLOCK_SKEW_MS)],
    });
    const [replid, began] = reply as [string, number];
    this.#replid = replid;
    this.#knownBeginning = Math.max(this.#knownBeginning, began);
    await this.#noteDurable();
  }

  async #noteDurable(): Promise<void> {
    this.#notedAt = performance.now();
    const isDurable = await checkSettings(this.#client);
    if (isDurable === undefined || this.#replid === '') return;
    await this.#client.eval(NOTE_DURABLE, {
      keys: [this.#beginning],
      arguments: [this.#replid, isDurable ? '1' : ''],
    });
  }

  #noteBeginning([, , , began, beginning]: Reply): void {
    if (began === undefined) return;
    this.#knownBeginning = Math.max(this.#knownBeginning, began);
    if (beginning === 'begun') {
      // Redis lost the beginning, or was restarted, perhaps with other settings, or has a replica now.
      this.#begun = this.#begin();
      this.#begun.catch(warnOfBeginning);
    } else if (performance.now() - this.#notedAt > NOTE_EVERY_MS) {
      this.#noteDurable().catch(tellOperator);
    }
  }

  get #knew(): string {
    return this.#knownBeginning === 0 ? '' : String(this.#knownBeginning);
  }

  get #beginning(): string {
    return `${this.#prefix}beginning`;
  }

  #entry(id: string): string {
    return `${this.#prefix}entry:${id}`;
  }
}

// Redis drops the note when it rewrites its append-only file. Until the next note, a restart is taken for a loss.
const NOTE_EVERY_MS = 60_000;

const warnOfBeginning = (error: unknown): void =>
  warnOnce(
    'MRTR_REDIS_NOT_REACHED',
    `RedisLedger could not write its beginning to Redis: ${error instanceof Error ? error.message : error}. Connect the ` +
      'client before you make the ledger. Until Redis is reached, calls are refused; those that are open when it is ' +
      'reached may be refused too.',
  );

function claimOf([kind, text = '', answers = '']: Reply, lease: string): LeaseDecision {
  switch (kind) {
    case 'all':
    case 'own':
      throw new StoreFull(ledgerFull(kind));
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
