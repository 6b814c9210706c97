/**
 * Keys for whoever performs an effect outside of this process. No guard here closes the window between an effect and
 * its record: a process that dies in it runs the effect again. Whoever performs it can, if it is told which effect it is.
 */
import { hash, randomBytes } from 'node:crypto';
import { type Call, ownEntry } from '@mrtr/core';

/** The idempotency keys of one logical call. */
export class Idempotency {
  #id: string | undefined;
  readonly #tokenId: string | undefined;

  /** @param saved what {@link Idempotency.save} gave in an earlier round. */
  constructor(call: Pick<Call, 'tokenId'>, saved?: unknown) {
    const id = ownEntry(saved as Record<string, unknown> | undefined, 'id');
    this.#id = typeof id === 'string' ? id : undefined;
    this.#tokenId = call.tokenId;
  }

  /**
   * A key for the effect `name` of this call: the same in every round and on every instance, and for a round that is
   * presented again. A first request that is sent anew is another call, and gets another key.
   */
  key(name: string): string {
    // What a client presents again brings the same token, so what is derived from that is the same again.
    this.#id ??= this.#tokenId === undefined ? randomBytes(16).toString('base64url') : digest(this.#tokenId);
    return digest(`${this.#id} ${name}`);
  }

  /** What later rounds need: nothing, where no key was asked for. */
  save(): { readonly id?: string } {
    return this.#id === undefined ? {} : { id: this.#id };
  }
}

const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, 22);
