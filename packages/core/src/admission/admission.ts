/**
 * Serves one request. `admit` runs these steps, always in this order:
 *
 *     count → open → lease → serve → settle or release
 *
 * Rules:
 *
 * 1. A request counts against the limits from its first step to its last, also while it waits for a ledger or for
 *    another retry. The server's total is counted before the policy's `principal` is awaited. A cancelled request whose
 *    handler still runs counts among the abandoned, which have a limit of their own.
 * 2. A token is used up only when its handler is entered. A request that ends earlier gives its lease back.
 * 3. A token whose handler was entered is never served again. A retry gets the recorded result, or an error that says
 *    the outcome is unknown. With `singleUse: 'reject'` every retry is refused.
 *
 * @see MCP 2026-07-28, basic/patterns/mrtr, server requirements
 */
import { hash } from 'node:crypto';
import { ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server';
import { publish } from '../diagnostics/diagnostics.ts';
import { type Binding, canonicalArguments } from '../state/binding.ts';
import { type OpenResult, openState } from '../state/codec.ts';
import { canonicalJson, MAX_DEPTH } from '../support/canonical-json.ts';
import { InvalidOption, StoreFull } from '../support/errors.ts';
import type { LoggedCall } from '../support/log-line.ts';
import { OperatorWarning } from '../support/operator-warning.ts';
import { endCall } from '../wire/results.ts';
import type { MrtrMethod } from '../wire/wire.ts';
import { type HandlerRun, isInvalidInputResult, isSdkRejection } from './handler-run.ts';
import { answersFit, ownAnswers } from './incoming-answers.ts';
import { STATE_NOT_KEPT } from './limits.ts';
import { type QuotaExceeded, QuotaSlot } from './quota.ts';
import type { Registrations } from './registration.ts';
import {
  acceptsUnasked,
  type Boundary,
  callerPseudonym,
  type Handler,
  type McpRequest,
  type Round,
  Serving,
} from './round.ts';
import { servesTokensOnce } from './shape-callback.ts';
import {
  type Decision,
  type Lease,
  LedgerFailed,
  leaseToken,
  type NotServedReason,
  type RecordedOutcome,
  recordError,
} from './single-use.ts';

/** A method of a server, and the handler that serves it. */
export interface Target {
  readonly method: MrtrMethod;
  readonly handler: Handler;
  /**
   * For the handler of `McpServer`, which calls a registered one, and may refuse a request before that. Undefined for
   * the author's own handler.
   */
  readonly registrations?: Registrations;
}

/** Admits the requests of one server. */
export class Admission {
  readonly #boundary: Boundary;
  readonly #audience: string;

  constructor(boundary: Boundary, audience: string) {
    this.#boundary = boundary;
    this.#audience = audience;
  }

  /**
   * Serves a request, or refuses it.
   *
   * @throws the handler's error, or the error that refuses the request.
   */
  async admit(target: Target, request: McpRequest, ctx: ServerContext): Promise<unknown> {
    const place = this.#count(target.method, request, ctx.mcpReq.signal);
    try {
      const round = await this.#open(target, request, ctx, place);
      const decision = await this.#lease(target, round);
      if ('recorded' in decision) return this.#repeat(decision.recorded, round);
      if ('refused' in decision) return this.#reject(round, decision.refused);
      return await this.#serve(target, round, decision);
    } finally {
      place.giveBack();
    }
  }

  /** Takes a place in the server's total. A request that is cancelled moves to the abandoned, if they have room. */
  #count(method: MrtrMethod, request: McpRequest, signal: AbortSignal): QuotaSlot {
    const { running, abandoned } = this.#boundary.policy;
    const place = QuotaSlot.take(running, undefined);
    if (typeof place === 'string') throw this.#tooManyCalls(place, this.#bind(method, request, undefined));
    const abandon = () => place.moveTo(abandoned);
    signal.addEventListener('abort', abandon, { once: true });
    if (signal.aborted) abandon();
    return place;
  }

  /** Identifies the caller and opens the request's state. Throws if either is refused. */
  async #open({ method }: Target, request: McpRequest, ctx: ServerContext, place: QuotaSlot): Promise<Round> {
    const { policy } = this.#boundary;
    const unknown = this.#bind(method, request, undefined);
    const binding = { ...unknown, principal: await this.#identify(unknown, ctx) };
    const pseudonym = callerPseudonym(binding, policy.keys.ring[0]);
    const about = { method, target: binding.target, pseudonym };
    const full = place.assign(pseudonym);
    if (full) throw this.#tooManyCalls(full, about);
    this.#checkAnswers(about, ctx);
    const token = ctx.mcpReq.requestState<string>();
    if (token === undefined) {
      return { request, ctx, binding: this.#rejectUnhashable(binding), pseudonym, opened: undefined };
    }
    const opened = this.#tryOpen(token, binding);
    if ('rejected' in opened)
      return this.#boundary.rejections.rejectState({ ...about, call: opened.callId }, token, opened.rejected);
    return { request, ctx, binding, pseudonym, opened };
  }

  /**
   * Asks for the lease on the round's token. A first request has no token and needs no lease. A shape that serves each
   * token once by itself needs none, and needs each retry.
   */
  async #lease({ registrations }: Target, round: Round): Promise<Decision | Unleased> {
    const { rejections, policy } = this.#boundary;
    const { ctx, binding, pseudonym, opened } = round;
    const { singleUse, keys, now } = policy;
    if (!opened || !singleUse) return { lease: undefined };
    if (registrations?.servesTokensOnce(binding)) return { lease: undefined, accepts: servesTokensOnce };
    const { signal, inputResponses = {} } = ctx.mcpReq;
    if (signal.aborted) return { refused: 'abandoned' };
    // The digest covers each answer that reaches the handler.
    const counted = acceptsUnasked(policy, binding.target) ? undefined : opened.asked;
    const answers = digestOf(ownAnswers(inputResponses, counted));
    const about = aboutRound(round);
    const report = (error: unknown) => rejections.report(error, about);
    let decision: Decision;
    try {
      decision = await leaseToken(singleUse, {
        opened,
        answers,
        pseudonym,
        ring: keys.ring,
        now,
        signal,
        report,
      });
    } catch (error) {
      if (!(error instanceof LedgerFailed)) throw error;
      // The message of a full ledger is ours, and safe for the client. Any other message may name hosts.
      const { cause } = error;
      if (cause instanceof StoreFull)
        return rejections.rejectRequest('ledger_full', about, cause, cause.message);
      return rejections.rejectRequest('ledger_failed', about, cause, STATE_NOT_KEPT);
    }
    // The ledger may have taken long.
    const late = signal.aborted ? 'abandoned' : now() >= opened.expiresAt ? 'expired' : undefined;
    if (!('lease' in decision) || !late) return decision;
    await decision.lease.release();
    return { refused: late };
  }

  /** Enters the handler. Then records the result, or gives the lease back if the handler was not entered. */
  async #serve(
    { handler, registrations }: Target,
    round: Round,
    { lease, accepts }: { readonly lease: Lease | undefined } & Pick<HandlerRun, 'accepts'>,
  ): Promise<unknown> {
    const isWatched = registrations?.isWatched(round.binding) ?? false;
    const run: HandlerRun = { entry: isWatched ? 'unseen' : 'entered', threw: false, accepts };
    const { signal } = round.ctx.mcpReq;
    const end = (ended: () => RecordedOutcome, isRefused: boolean) => {
      if (run.entry === 'rejected' || (run.entry === 'unseen' && isRefused)) return lease?.release();
      return lease?.settle(signal.aborted && run.threw ? () => ({ lost: true }) : ended);
    };
    let result: unknown;
    try {
      result = await new Serving(this.#boundary, round).serve(handler, run);
    } catch (thrown) {
      // The SDK cannot answer with any other value, and its client would wait for ever.
      const error = typeof thrown === 'object' && thrown !== null ? thrown : new Error(String(thrown));
      run.threw = true;
      await end(() => recordError(error), isSdkRejection(error));
      throw error;
    }
    await end(() => ({ result }), isInvalidInputResult(result));
    return result;
  }

  /** Answers a repeated retry with the first one's recorded outcome. */
  #repeat(recorded: RecordedOutcome, round: Round): unknown {
    const { binding, ctx, opened } = round;
    if ('lost' in recorded) {
      this.#boundary.rejections.reportRejected(aboutRound(round), ctx.mcpReq.requestState<string>(), 'lost');
      return endCall(binding, OUTCOME_UNKNOWN);
    }
    const { method, target } = binding;
    publish('mrtr:state', { phase: 'replayed', method, target, bytes: 0, call: opened?.callId });
    if ('tooLarge' in recorded) return endCall(binding, TOO_LARGE);
    if ('error' in recorded) throw new ProtocolError(...recorded.error);
    return recorded.result;
  }

  #reject(round: Round, reason: NotServedReason): never {
    const token = round.ctx.mcpReq.requestState<string>();
    return this.#boundary.rejections.rejectState(aboutRound(round), token, reason);
  }

  #bind(method: MrtrMethod, request: McpRequest, principal: string | undefined): Binding {
    const params = request.params ?? {};
    return {
      method,
      target: String(method === 'resources/read' ? params.uri : params.name),
      arguments: params.arguments,
      audience: this.#audience,
      principal,
    };
  }

  /** Never sends an error of the policy's callback to the client: it may name hosts. */
  async #identify({ method, target }: Binding, ctx: ServerContext): Promise<string | undefined> {
    const { policy, rejections } = this.#boundary;
    const about = { method, target, pseudonym: 'unknown' };
    let principal: unknown;
    try {
      principal = await policy.principal(ctx);
    } catch (error) {
      return rejections.rejectRequest('principal_failed', about, error, INTERNAL);
    }
    if (principal === undefined || typeof principal === 'string') return principal;
    const why = `The policy's principal gave a value of type ${typeof principal}. It must give a string, or undefined.`;
    return rejections.rejectRequest('principal_failed', about, new InvalidOption(why), INTERNAL);
  }

  // Refuse the request instead of dropping the answer: asked again, the user would give the same answer and never learn
  // why it does not count. Check before the ledger, so that a retry with a shorter answer still counts as the first.
  #checkAnswers(about: LoggedCall, ctx: ServerContext): void {
    const { rejections } = this.#boundary;
    const limit = this.#boundary.policy.maxAnswerBytes;
    if (answersFit(ctx.mcpReq.inputResponses, limit)) return;
    const expected = `An answer has to be JSON of at most ${limit} bytes, nested at most ${MAX_DEPTH} levels deep`;
    rejections.count('answer_too_large', about);
    rejections.report(new OperatorWarning('answer_refused', `An answer was refused. ${expected}.`), about);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, expected, { reason: 'answer_too_large' });
  }

  #tryOpen(token: string, binding: Binding): OpenResult {
    const { maxBytes, now, keys, versions } = this.#boundary.policy;
    if (token.length > maxBytes) return { rejected: 'too_large' };
    try {
      const opened = openState(token, binding, now(), keys.ring);
      if ('rejected' in opened || versions.accepts(binding.target, opened.version)) return opened;
      return { rejected: 'other_version', callId: opened.callId };
    } catch (error) {
      // No token was ever sealed for arguments that cannot be hashed.
      if (error instanceof RangeError || error instanceof TypeError) return { rejected: 'other_arguments' };
      throw error;
    }
  }

  /**
   * Rejects a first request whose arguments cannot be hashed before its handler runs. Failing later, at sealing, would
   * let a client repeat the handler's effects.
   */
  #rejectUnhashable(binding: Binding): Binding {
    try {
      return { ...binding, canonicalArguments: canonicalArguments(binding) };
    } catch {
      this.#boundary.rejections.count('invalid_arguments', binding);
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The arguments hold a number that is not finite, or are nested deeper than ${MAX_DEPTH} levels`,
      );
    }
  }

  #tooManyCalls(full: QuotaExceeded, about: Pick<LoggedCall, 'method' | 'target'>): ProtocolError {
    this.#boundary.rejections.count('too_many_calls', about);
    return new ProtocolError(
      ProtocolErrorCode.InternalError,
      `${full === 'own' ? 'You have' : 'This server has'} too many calls running. Try again when one has ended.`,
      { reason: 'too_many_calls' },
    );
  }
}

/** A round without a lease. `accepts`: the callbacks that may serve it; default: all. */
type Unleased = { readonly lease: undefined } & Pick<HandlerRun, 'accepts'>;

/** The part of a round that a log line shows. */
const aboutRound = ({ binding: { method, target }, pseudonym, opened }: Round): LoggedCall => ({
  method,
  target,
  call: opened?.callId,
  pseudonym,
});

const INTERNAL = 'Internal error';
const OUTCOME_UNKNOWN =
  'This step was started and did not end properly, so its outcome is unknown. Find out what was done before you ' +
  'start again.';

const TOO_LARGE = 'This step was done. Its result is too large to repeat.';

const digestOf = (answers: Readonly<Record<string, unknown>>): string =>
  hash('sha256', canonicalJson(answers), 'base64url');
