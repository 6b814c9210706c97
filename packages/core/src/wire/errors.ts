/** Every way this project's libraries fail, as a closed set of codes: one class per code. */
export type MrtrErrorCode =
  | 'answer_ignored'
  | 'cannot_ask'
  | 'continuation_lost'
  | 'elicitation_declined'
  | 'interaction_unfinished'
  | 'invalid_definition'
  | 'invalid_label'
  | 'invalid_option'
  | 'invalid_signature'
  | 'journal_diverged'
  | 'not_json'
  | 'rounds_exceeded'
  | 'state_too_large'
  | 'store_full'
  | 'too_many_questions'
  | 'unprotected_server';

const IS_MRTR_ERROR = Symbol.for('mrtr.error');

/**
 * The base of every error that `@mrtr/core` and `@mrtr/shapes` throw on purpose. `instanceof` knows errors by their code,
 * so also those of another copy of this package, such as its CommonJS format.
 */
export abstract class MrtrError extends Error {
  abstract readonly code: MrtrErrorCode;
  constructor(message?: string, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, IS_MRTR_ERROR, { value: true });
  }
  override get name(): string {
    return this.constructor.name;
  }
  static override readonly [Symbol.hasInstance] = isInstance;
}

/**
 * A handler keeps asking a question whose answers do not count. Never thrown: `onerror` gets it when this happens for
 * the second time in a row.
 */
export class AnswerIgnored extends MrtrError {
  readonly code = 'answer_ignored';
  /** The question's key. */
  readonly key: string;
  constructor(target: string, key: string, why: string) {
    super(`${target} asks '${key}' again, and ignored two answers to it: ${why}`);
    this.key = key;
  }
}

/** The client of this request cannot be asked: wrong revision, no declared capability, or no channel to it. */
export class CannotAsk extends MrtrError {
  readonly code = 'cannot_ask';
}

/** A parked continuation is gone: expired, resumed already, aborted, or held by another server instance. */
export class ContinuationLost extends MrtrError {
  readonly code = 'continuation_lost';
}

/**
 * The client declined the question (`declined`) or dismissed it (`cancelled`); see `kind`. Both end the call politely.
 * Some clients refuse by themselves, so the message does not mention the user.
 */
export class ElicitationDeclined extends MrtrError {
  readonly code = 'elicitation_declined';
  readonly kind: 'declined' | 'cancelled';
  /** The question's key, where it is known. */
  readonly key: string | undefined;
  constructor(kind: 'declined' | 'cancelled', key?: string) {
    const question = key === undefined ? 'The question' : `The question '${key}'`;
    super(`${question} was ${kind === 'declined' ? 'declined' : 'dismissed'}.`);
    this.kind = kind;
    this.key = key;
  }
}

/** The user did not finish a page in time, or was sent there as often as allowed. The message is for the user. */
export class InteractionUnfinished extends MrtrError {
  readonly code = 'interaction_unfinished';
}

/** A tool was put together wrongly. Thrown while the tool is built, or in the call if it cannot be seen earlier. */
export class InvalidDefinition extends MrtrError {
  readonly code = 'invalid_definition';
}

/** A routing label that a token cannot carry. */
export class InvalidLabel extends MrtrError {
  readonly code = 'invalid_label';
}

/**
 * An option is wrong: unknown, of the wrong type, or one that cannot be honoured. Thrown where the option is given, and
 * so, for a policy, a store or a host, never in a call.
 */
export class InvalidOption extends MrtrError {
  readonly code = 'invalid_option';
}

/** A tool's resolvers cannot work as they are declared. Thrown while the tool is built, where that can be seen. */
export class InvalidSignature extends MrtrError {
  readonly code = 'invalid_signature';
}

/** A value that must travel in `requestState` is not JSON, so a later round would see another value. */
export class NotJson extends MrtrError {
  readonly code = 'not_json';
}

/** The call asked more often than its limit of rounds allows. */
export class RoundsExceeded extends MrtrError {
  readonly code = 'rounds_exceeded';
}

/** Sealed `requestState` is over the policy's limit. `bytes` and `limit` are of the sealed token. */
export class StateTooLarge extends MrtrError {
  readonly code = 'state_too_large';
  readonly bytes: number;
  readonly limit: number;
  constructor(bytes: number, limit: number, detail = '') {
    super(
      `requestState would be ${bytes} bytes sealed; the policy allows ${limit}. ${detail}${detail && ' '}` +
        'Keep large values outside of the call and record a reference, or raise maxBytes.',
    );
    this.bytes = bytes;
    this.limit = limit;
  }
}

/** A continuation store has no room for another call. Nothing of the refused call has run. */
export class StoreFull extends MrtrError {
  readonly code = 'store_full';
}

/** A handler asks more questions in one round than the policy allows. Nothing was sent. */
export class TooManyQuestions extends MrtrError {
  readonly code = 'too_many_questions';
  readonly questions: number;
  readonly limit: number;
  constructor(questions: number, limit: number) {
    super(
      `One round asks ${questions} questions; the policy allows ${limit}. Ask for several fields in one form, spread ` +
        'the questions over rounds, or raise maxQuestions.',
    );
    this.questions = questions;
    this.limit = limit;
  }
}

/** A shape that keeps state was called on a server without `protectRequestState`. */
export class UnprotectedServer extends MrtrError {
  readonly code = 'unprotected_server';
}

/** The class of each code. That of a journal stands with its shape. */
const CLASSES: Readonly<Record<Exclude<MrtrErrorCode, 'journal_diverged'>, unknown>> = {
  answer_ignored: AnswerIgnored,
  cannot_ask: CannotAsk,
  continuation_lost: ContinuationLost,
  elicitation_declined: ElicitationDeclined,
  interaction_unfinished: InteractionUnfinished,
  invalid_definition: InvalidDefinition,
  invalid_label: InvalidLabel,
  invalid_option: InvalidOption,
  invalid_signature: InvalidSignature,
  not_json: NotJson,
  rounds_exceeded: RoundsExceeded,
  state_too_large: StateTooLarge,
  store_full: StoreFull,
  too_many_questions: TooManyQuestions,
  unprotected_server: UnprotectedServer,
};

function isInstance(this: unknown, value: unknown): boolean {
  if (typeof value === 'object' && value !== null && IS_MRTR_ERROR in value) {
    const { code } = value as unknown as MrtrError;
    if (this === MrtrError || this === CLASSES[code as keyof typeof CLASSES]) return true;
  }
  // A class that somebody derived from one of ours.
  return Function.prototype[Symbol.hasInstance].call(this, value);
}
