/** What a linear handler gets. */
import {
  type Answers,
  CannotAsk,
  type Elicitation,
  elicitation,
  type InputKind,
  type Questions,
  type StandardSchemaV1,
  type StandardSchemaWithJSON,
} from '@mrtr/core';
import { Idempotency } from '../idempotency.ts';
import { questionKey } from '../question-key.ts';
import { handled } from '../shape.ts';
import { type Frame, refused } from './frame.ts';

/** What a linear handler gets: small on purpose, because parking keeps all of it alive. */
export interface LinearContext {
  /** Fires when the call is given up: its client cancelled, its time is over, or the store was closed. */
  readonly signal: AbortSignal;
  /** A digest of who is calling, or undefined where nobody is authenticated. */
  readonly principal: string | undefined;
  /** Whether the client of the latest round can be asked; see `canAsk` of `@mrtr/core`. */
  canAsk(kind: InputKind): boolean;
  /**
   * Runs `fn` once in the call and returns its value. In memory that is all; a durable store records the value, so that
   * a process that goes on with the call after another one died does not run it again. One that dies inside of `fn`
   * leaves no record: give {@link idempotencyKey} to whoever performs an effect that must not happen twice.
   *
   * @param key names the step, uniquely in the call, across deploys.
   * @param fn must return JSON (or nothing). It takes no steps, asks nothing, and waits for no question or step of the
   * call: the round does not end before it has, and a durable store runs one step at a time.
   * @throws whatever `fn` throws; NotJson when its value could not be recorded.
   */
  run<T>(key: string, fn: () => T | Promise<T>): Promise<T>;
  /** A key to hand to whoever performs the effect `key` elsewhere, so that it is done once: the same in the whole call. */
  idempotencyKey(key: string): string;
  /**
   * Asks and waits. Questions that are asked together go out as one round.
   *
   * @throws ElicitationDeclined with the action, when the user said no; left alone, it ends the call politely.
   * @throws CannotAsk when the client cannot be asked; nothing is sent.
   * @throws ContinuationLost when the call is given up while it waits.
   */
  elicit<S extends StandardSchemaWithJSON>(
    message: string,
    schema: S,
  ): Promise<StandardSchemaV1.InferOutput<S>>;
  /**
   * Asks several questions in one round and waits for all of them. Throws as {@link elicit} does; a question that is
   * declined takes the others back.
   */
  ask<Q extends Questions>(questions: Q): Promise<Answers<Q>>;
}

/**
 * The context of one frame. Its functions are made when they are looked at, and not kept: five closures would weigh more
 * than all the rest of it, and an author may take them out of it all the same.
 */
export class FrameContext implements LinearContext {
  readonly #frame: Frame;
  #idempotency: Idempotency | undefined;

  /** @param callId what idempotency keys are made from; undefined: something random. */
  constructor(frame: Frame, callId?: string) {
    this.#frame = frame;
    if (callId !== undefined) this.#idempotency = new Idempotency({ tokenId: undefined }, { id: callId });
  }

  get signal(): AbortSignal {
    return this.#frame.signal;
  }

  get principal(): string | undefined {
    return this.#frame.principal;
  }

  get canAsk(): LinearContext['canAsk'] {
    return (kind) => this.#frame.askable.includes(kind);
  }

  get run(): LinearContext['run'] {
    return (key, fn) => handled(this.#frame.step(key, fn));
  }

  get idempotencyKey(): LinearContext['idempotencyKey'] {
    return (key) => {
      this.#idempotency ??= new Idempotency({ tokenId: undefined });
      return this.#idempotency.key(key);
    };
  }

  get elicit(): LinearContext['elicit'] {
    return (message, schema) => this.#elicit(message, schema);
  }

  get ask(): LinearContext['ask'] {
    return (questions) => this.#ask(questions);
  }

  #elicit<S extends StandardSchemaWithJSON>(
    message: string,
    schema: S,
  ): Promise<StandardSchemaV1.InferOutput<S>> {
    let question: Elicitation<S>;
    try {
      question = elicitation(message, schema);
    } catch (error) {
      return handled(Promise.reject(error));
    }
    if (!this.#frame.askable.includes('elicitation')) return cannotAsk(message);
    const key = questionKey(question, (taken) => this.#frame.isOpen(taken));
    return this.#frame.askOne(key, question) as Promise<StandardSchemaV1.InferOutput<S>>;
  }

  #ask<Q extends Questions>(questions: Q): Promise<Answers<Q>> {
    const unaskable = Object.values(questions).find(({ kind }) => !this.#frame.askable.includes(kind));
    if (unaskable) return cannotAsk(unaskable.message);
    return this.#frame.ask(questions) as Promise<Answers<Q>>;
  }
}

const cannotAsk = (message: string): Promise<never> =>
  refused(new CannotAsk(`The client cannot be asked "${message}". Test ctx.canAsk first.`));
