/** The context of a linear handler. */
import { type Elicitation, elicitation, type Question, type Questions } from '@mrtr/core';
import { idempotencyKeyOf } from '@mrtr/core/shape';
import { type Ask, type Elicit, type HandlerContext, sendProgress } from '../kit/handler-context.ts';
import type { Once } from '../kit/recorded.ts';
import type { Frame } from './frame.ts';

/**
 * The context of a linear handler. It is small because parking keeps it alive: it has no `request`, which would hold 20
 * KB. `progress` and `log` work while a round is open, and do nothing while the handler is parked, which has no request
 * to send them on.
 */
export interface LinearContext extends Omit<HandlerContext, 'request'> {
  /** Fires when the call ends early: its client cancelled it, it expired, or the store was closed. */
  readonly signal: AbortSignal;
  /** A keyed digest of the caller's principal, the same on all instances; undefined for an anonymous caller. */
  readonly pseudonym: string | undefined;
  /**
   * Runs `effect` once in the call and returns its value. A durable store also records the value, so that a process
   * that resumes the call of a dead one does not run the effect again. A process that dies inside `effect` leaves no
   * record: give {@link idempotencyKey} to the service that performs an effect.
   *
   * @param key names the effect, uniquely in the call, across deploys.
   * @param effect must return JSON (or nothing). It must not take steps or ask (both throw there), nor await a question or step
   * of the call: the round waits for the effect, and a durable store runs one step at a time.
   * @param options `schema`: checks a value that a durable store recorded; see `RecordedOptions`. A value that does not fit
   * ends the call with `ContinuationLost`.
   * @throws the error of `effect`; NotJson when its value is not JSON.
   * @throws InvalidDefinition when the key comes twice in one call. Also before the effect, when no code awaits an
   * earlier question: the call ends.
   */
  readonly once: Once;
  /**
   * Asks one question and waits, or several in one round: a refusal of one withdraws the others. Questions that are
   * asked together go out in one round. Await it before the next `once`, or together with it: a forgotten `await` ends
   * the call.
   *
   * @throws ElicitationDeclined when the client refuses the question; uncaught, it ends the call politely.
   * @throws CannotAsk when the client cannot be asked and the question has no `fallback`; the call ends.
   * @throws ContinuationLost when the call ends while it waits.
   */
  readonly ask: Ask;
  /**
   * Asks without a key, like the SDK's `elicitInput`, so that existing tools need no change. Throws like {@link ask}.
   */
  readonly elicit: Elicit;
}

/**
 * The context of one frame. Its getters make a function on each read and keep none: the closures would outweigh the
 * rest of the frame. Authors can destructure them.
 */
export class FrameContext implements LinearContext {
  readonly #frame: Frame;

  constructor(frame: Frame) {
    this.#frame = frame;
  }

  get signal(): AbortSignal {
    return this.#frame.signal;
  }

  get pseudonym(): string | undefined {
    return this.#frame.pseudonym;
  }

  get caller(): LinearContext['caller'] {
    return this.#frame.caller;
  }

  get canAsk(): LinearContext['canAsk'] {
    return (kind) => this.#frame.askable.includes(kind);
  }

  get once(): Once {
    return (key, effect, options) => this.#frame.step(key, effect, options);
  }

  get idempotencyKey(): LinearContext['idempotencyKey'] {
    return (key) => idempotencyKeyOf({ id: this.#frame.call }, key);
  }

  get progress(): LinearContext['progress'] {
    return async (progress, total, message) => {
      const { request } = this.#frame;
      if (request) await sendProgress(request, { progress, total, message });
    };
  }

  get log(): LinearContext['log'] {
    return async (level, data, logger) => this.#frame.request?.mcpReq.log(level, data, logger);
  }

  get elicit(): Elicit {
    return (message, schema, options): Promise<never> => {
      let question: Elicitation;
      try {
        question = elicitation(message, schema, options);
      } catch (error) {
        return this.#frame.rejectQuestion(`${message}`, error) as Promise<never>;
      }
      const key = questionKey(question, (taken) => this.#frame.isOpen(taken));
      return this.#frame.askOne(key, question) as Promise<never>;
    };
  }

  get ask(): Ask {
    return (...asked: [string, Question] | [Questions]): Promise<never> =>
      (asked.length === 1 ? this.#frame.ask(asked[0]) : this.#frame.askOne(...asked)) as Promise<never>;
  }
}

/**
 * Makes a wire key for a question without one: the names of its form's fields, with a number appended if that key is
 * taken. A position alone would shift silently when a question is inserted before it.
 */
function questionKey(question: Elicitation, isTaken: (key: string) => boolean) {
  const base = question.fields.join('_') || 'answer';
  let key = base;
  for (let n = 2; isTaken(key); n++) key = `${base}-${n}`;
  return key;
}
