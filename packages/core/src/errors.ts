/** The errors that these libraries throw on purpose. Each class is in the package that throws it, or here. */

import type { Rejection, RejectionReason } from './diagnostics/rejection-reasons.ts';

const IS_MRTR_ERROR = Symbol.for('mrtr.error');

/**
 * The base of every error that these libraries throw on purpose. Each class has a `code` of its own, and `instanceof`
 * compares it. So an error of another copy of this package, such as its CommonJS format, is an instance too.
 */
export abstract class MrtrError extends Error {
  static readonly code: string = 'mrtr_error';
  readonly code: string;

  constructor(message?: string, options?: ErrorOptions) {
    super(message, options);
    this.code = new.target.code;
    Object.defineProperty(this, IS_MRTR_ERROR, { value: true });
  }

  /** Derived from the code, because a minifier renames classes: `cannot_ask` gives `CannotAsk`. */
  override get name(): string {
    const { code } = this.constructor as typeof MrtrError;
    return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  }

  static override readonly [Symbol.hasInstance] = isInstance;
}

function isInstance(this: object, value: unknown) {
  if (typeof value === 'object' && value !== null && IS_MRTR_ERROR in value) {
    const { code } = value as unknown as MrtrError;
    if (this === MrtrError || (Object.hasOwn(this, 'code') && (this as typeof MrtrError).code === code))
      return true;
  }
  // For a user's class that extends one of ours.
  return Function.prototype[Symbol.hasInstance].call(this, value);
}

/** The client of this request cannot be asked: wrong revision, no declared capability, or no channel to it. */
export class CannotAsk extends MrtrError {
  static override readonly code = 'cannot_ask';
}

/**
 * The client declined the question (`declined`) or dismissed it (`cancelled`); see `kind`. The message does not mention
 * the user, because some clients refuse without asking one.
 */
export class ElicitationDeclined extends MrtrError {
  static override readonly code = 'elicitation_declined';
  readonly kind: 'declined' | 'cancelled';
  /** The question's key, if known. */
  readonly key: string | undefined;
  constructor(kind: 'declined' | 'cancelled', key?: string) {
    const question = key === undefined ? 'The question' : `The question '${key}'`;
    super(`${question} was ${kind === 'declined' ? 'declined' : 'dismissed'}.`);
    this.kind = kind;
    this.key = key;
  }
}

/**
 * A tool's definition is wrong. Thrown while the tool is built, or in the call if it cannot be found earlier: a handler asks
 * too many questions at once, or labels its state with a text that a token cannot carry.
 */
export class InvalidDefinition extends MrtrError {
  static override readonly code = 'invalid_definition';
}

/**
 * An option or an argument is wrong: unknown, of the wrong type, or impossible to honour. Thrown where it is given: for
 * a policy, a store or a host, when that is made. In a call, `onerror` gets it if a `principal` returns a value that is
 * not a text, or a middleware leaves a caller that is not an AuthInfo.
 */
export class InvalidOption extends MrtrError {
  static override readonly code = 'invalid_option';
}

/** A value that must travel in `requestState` is not JSON, so a later round would see another value. */
export class NotJson extends MrtrError {
  static override readonly code = 'not_json';
}

/** Request state was rejected. Never thrown: `onerror` gets it; the client's error is the same for every reason. */
export class RequestStateRejected extends MrtrError {
  static override readonly code = 'request_state_rejected';
  /** The reason, as `mrtr:rejection` publishes it. */
  readonly reason: RejectionReason;
  /** More about the reason: `tampered`, `other_principal`, `already_used`, … */
  readonly detail: string | undefined;
  constructor({ reason, detail }: Rejection, why = '') {
    super(`requestState rejected: ${reason}${detail ? ` (${detail})` : ''}${why && `: ${why}`}`);
    this.reason = reason;
    this.detail = detail;
  }
}

/**
 * A call asked too often. Thrown by `askLive`, and in H, after the last answer that does not fit. `onerror` gets it where a
 * call asks in more rounds than `limits.rounds`.
 */
export class RoundsExceeded extends MrtrError {
  static override readonly code = 'rounds_exceeded';
}

/** Sealed `requestState` is over the policy's limit. `bytes` and `limit` count the sealed token. */
export class StateTooLarge extends MrtrError {
  static override readonly code = 'state_too_large';
  readonly bytes: number;
  readonly limit: number;
  constructor(bytes: number, limit: number, detail = '') {
    super(
      `requestState would be ${bytes} bytes sealed; the policy allows ${limit}. ${detail}${detail && ' '}` +
        'Keep large values outside of the call and record a reference, or raise limits.stateBytes.',
    );
    this.bytes = bytes;
    this.limit = limit;
  }
}

/**
 * A store is full, in total or for one principal, or a value is too large for it. Continuation stores and ledgers throw
 * it before the handler is entered. A store of pages throws it inside the handler, and also after a page's `finish` has
 * run: then the value of `finish` is lost.
 */
export class StoreFull extends MrtrError {
  static override readonly code = 'store_full';
}

/** A shape that keeps state was called on a server without `protectRequestState`. */
export class UnprotectedServer extends MrtrError {
  static override readonly code = 'unprotected_server';
}
