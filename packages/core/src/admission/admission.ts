/**
 * Serves one request. `admit` runs these steps, always in this order:
 *
 *     count → open → lease → serve → settle or release
 *
 * A place is counted in `quota.ts`. `state/codec.ts` opens the state; then `call.ts` has the record of the call. `lease.ts`
 * asks the ledger. `serve.ts` enters the handler, through the SDK and `handler-entry.ts`, and `send-questions.ts` seals what
 * it asks. The lease ends in `lease.ts`.
 *
 * Rules:
 *
 * 1. A request counts against the limits from its first step to its last, also while it waits for a ledger or for
 *    another retry. The server's total is counted before the policy's `principal` is awaited. A cancelled request whose
 *    handler still runs counts among the abandoned, which have a limit of their own.
 * 2. A token is used up only when its handler is entered. A request that ends earlier gives its lease back.
 * 3. A token whose handler was entered is never served again. A repeated retry gets the recorded result, or an error that says
 *    the outcome is unknown. With `singleUse: 'reject'` every repeated retry is rejected.
 *
 * @see MCP 2026-07-28, basic/patterns/mrtr, server requirements
 */
import { hash } from 'node:crypto';
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { publish } from '../diagnostics/events.ts';
import type { LoggedCall } from '../diagnostics/log-line.ts';
import { OperatorWarning } from '../diagnostics/operator-warning.ts';
import { InvalidOption, StoreFull } from '../errors.ts';
import { endCall } from '../results.ts';
import { type Binding, canonicalArguments } from '../state/binding.ts';
import { type OpenResult, openState } from '../state/codec.ts';
import { canonicalJson, MAX_DEPTH } from '../wire/canonical-json.ts';
import type { Members, MrtrMethod } from '../wire/wire.ts';
import { AdmittedCall, callerPseudonym, type McpRequest } from './admitted-call.ts';
import { STATE_NOT_KEPT } from './ask-problem.ts';
import { isErrorResult, isSdkRejection } from './handler-entry.ts';
import { answersFit } from './incoming-answers.ts';
import {
  type Decision,
  type Lease,
  leaseToken,
  type RecordedOutcome,
  recordError,
  rejectAs,
} from './lease.ts';
import type { PolicyParts } from './policy.ts';
import { type QuotaExceeded, QuotaSlot } from './quota.ts';
import type { Registrations } from './registrations.ts';
import type { Rejections } from './rejections.ts';
import { handlerOf } from './request-handler.ts';
import { type Handler, serve } from './serve.ts';
import { servesTokensOnce } from './shape-callback.ts';

/** A method of a server, and the handler that serves it. */
export interface ServedMethod {
  readonly method: MrtrMethod;
  readonly handler: Handler;
  /**
   * For the handler of `McpServer`, which calls a registered one, and may reject a request before that. Undefined for
   * the author's own handler.
   */
  readonly registrations?: Registrations;
}

/** Admits the requests of one server. */
export class Admission {
  readonly #server: McpServer;
  readonly #policy: PolicyParts;
  readonly #rejections: Rejections;
  readonly #audience: string;

  constructor(server: McpServer, policy: PolicyParts, rejections: Rejections, audience: string) {
    this.#server = server;
    this.#policy = policy;
    this.#rejections = rejections;
    this.#audience = audience;
  }

  /**
   * Serves a request, or rejects it.
   *
   * @throws the handler's error, or the error that rejects the request.
   */
  async admit(target: ServedMethod, request: McpRequest, ctx: ServerContext) {
    const place = this.#count(target.method, request, ctx);
    try {
      const unknown = this.#bind(target.method, request);
      const identified = this.#identify(unknown, ctx);
      const principal = typeof identified === 'object' ? await identified : identified;
      const call = this.#open({ ...unknown, principal }, request, ctx, place);
      const decision = call.facts.opened ? await lease(target, call) : { lease: undefined };
      if ('recorded' in decision) return repeat(decision.recorded, call);
      if ('rejected' in decision)
        return this.#rejections.rejectState(decision.rejected, call, call.facts.token);
      return await serveLeased(target, call, decision.lease);
    } finally {
      place.giveBack();
    }
  }

  /** Takes a place in the server's total. A request that is cancelled moves to the abandoned, if they have room. */
  #count(method: MrtrMethod, request: McpRequest, { mcpReq: { signal }, http }: ServerContext) {
    const { running, abandoned } = this.#policy;
    const place = QuotaSlot.take(running, undefined);
    if (typeof place === 'string') throw this.#tooManyCalls(place, this.#bind(method, request));
    const abandon = () => {
      if (place.moveTo(abandoned) && http?.req) handlerOf(http.req).abandoned?.();
    };
    signal.addEventListener('abort', abandon, { once: true });
    if (signal.aborted) abandon();
    return place;
  }

  /** Opens the request's state. Throws if it is rejected. */
  #open(binding: Binding, request: McpRequest, ctx: ServerContext, place: QuotaSlot) {
    const [server, policy, rejections] = [this.#server, this.#policy, this.#rejections];
    const pseudonym = callerPseudonym(binding, policy.keys.ring[0]);
    const about = { method: binding.method, target: binding.target, pseudonym };
    const full = place.assign(pseudonym);
    if (full) throw this.#tooManyCalls(full, about);
    this.#checkAnswers(about, ctx);
    const token = ctx.mcpReq.requestState<string>();
    const facts = { server, policy, rejections, request, ctx, pseudonym, token };
    if (token === undefined) {
      this.#rejectUnhashable(binding);
      return new AdmittedCall({ ...facts, binding, opened: undefined });
    }
    const opened = this.#tryOpen(token, binding);
    if ('rejected' in opened)
      return rejections.rejectState(opened.rejected, { ...about, id: opened.callId }, token);
    return new AdmittedCall({ ...facts, binding, opened });
  }

  /** The binding of a request whose caller is not known yet. */
  #bind(method: MrtrMethod, request: McpRequest): Binding {
    const params = request.params ?? {};
    return {
      method,
      target: String(method === 'resources/read' ? params.uri : params.name),
      arguments: params.arguments,
      audience: this.#audience,
      principal: undefined,
    };
  }

  /** Never sends an error of the policy's callback to the client: it may name hosts. */
  #identify(
    { method, target }: Binding,
    ctx: ServerContext,
  ): string | undefined | Promise<string | undefined> {
    const about = { method, target, pseudonym: 'unknown' };
    const reject = (error: unknown): never =>
      this.#rejections.rejectRequest({ reason: 'principal' }, about, error, 'Internal error');
    try {
      const principal: unknown = this.#policy.principal(ctx);
      return typeof principal === 'object'
        ? Promise.resolve(principal).then(requirePrincipal).catch(reject)
        : requirePrincipal(principal);
    } catch (error) {
      return reject(error);
    }
  }

  // Reject the request instead of dropping the answer: asked again, the user would give the same answer and never learn
  // why it does not count. Check before the ledger, so that a retry with a shorter answer still counts as the first.
  #checkAnswers(about: LoggedCall, ctx: ServerContext) {
    const rejections = this.#rejections;
    const limit = this.#policy.limits.answerBytes;
    if (answersFit(ctx.mcpReq.inputResponses, limit)) return;
    const expected = `An answer has to be JSON of at most ${limit} bytes, nested at most ${MAX_DEPTH} levels deep`;
    rejections.count({ reason: 'invalid', detail: 'answer_too_large' }, about);
    rejections.report(new OperatorWarning('answer_rejected', `An answer was rejected. ${expected}.`), about);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, expected, { reason: 'answer_too_large' });
  }

  #tryOpen(token: string, binding: Binding): OpenResult {
    const { limits, now, keys, versions } = this.#policy;
    if (token.length > limits.stateBytes) return rejectAs('invalid', 'too_large');
    try {
      const opened = openState(token, binding, now(), keys.ring);
      if ('rejected' in opened || versions.accepts(binding.target, opened.version)) return opened;
      return { ...rejectAs('wrong_version', 'other_version'), callId: opened.callId };
    } catch (error) {
      // No token was ever sealed for arguments that cannot be hashed.
      if (error instanceof RangeError || error instanceof TypeError)
        return rejectAs('wrong_request', 'other_arguments');
      throw error;
    }
  }

  /**
   * Rejects a first request whose arguments cannot be hashed before its handler runs. Failing later, at sealing, would
   * let a client repeat the handler's effects.
   */
  #rejectUnhashable(binding: Binding) {
    try {
      canonicalArguments(binding);
    } catch {
      this.#rejections.count({ reason: 'invalid', detail: 'invalid_arguments' }, binding);
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `The arguments hold a number that is not finite, or are nested deeper than ${MAX_DEPTH} levels`,
      );
    }
  }

  #tooManyCalls(full: QuotaExceeded, about: Pick<LoggedCall, 'method' | 'target'>) {
    this.#rejections.count({ reason: 'busy', detail: 'too_many_calls' }, about);
    return new ProtocolError(
      ProtocolErrorCode.InternalError,
      `${full === 'own' ? 'You have' : 'This server has'} too many calls running. Try again when one has ended.`,
      { reason: 'too_many_calls' },
    );
  }
}

function requirePrincipal(principal: unknown) {
  if (principal === undefined || typeof principal === 'string') return principal;
  throw new InvalidOption(
    `The policy's principal gave a value of type ${typeof principal}. It must give a string, or undefined.`,
  );
}

/**
 * Asks for the lease on the call's token. A first request has no token and needs no lease. A shape that serves each
 * token once by itself needs none, and needs each retry.
 */
async function lease({ registrations }: ServedMethod, call: AdmittedCall) {
  const { rejections, ctx, binding, opened, policy } = call.facts;
  const { singleUse, keys, now } = policy;
  if (!opened || !singleUse) return { lease: undefined };
  if (registrations?.find(binding)?.servesTokensOnce) {
    call.accepts = servesTokensOnce;
    return { lease: undefined };
  }
  const { signal } = ctx.mcpReq;
  if (signal.aborted) return rejectAs('hung_up');
  // The digest covers each answer that reaches the handler.
  const answers = digestOf(call.answers ?? {});
  let decision: Decision;
  try {
    decision = await leaseToken({ call, singleUse, opened, answers, ring: keys.ring });
  } catch (error) {
    // The message of a full ledger is ours, and safe for the client. Any other message may name hosts.
    const isFull = error instanceof StoreFull;
    const detail = isFull ? 'ledger_full' : 'ledger_failed';
    return rejections.rejectRequest(
      { reason: 'ledger', detail },
      call,
      error,
      isFull ? error.message : STATE_NOT_KEPT,
    );
  }
  // The ledger may have taken long.
  const late = signal.aborted ? 'hung_up' : now() >= opened.expiresAt ? 'expired' : undefined;
  if (!('lease' in decision) || !late) return decision;
  await decision.lease?.release();
  return rejectAs(late);
}

/** Enters the handler. Then records the result, or gives the lease back if the handler was not entered. */
async function serveLeased(
  { handler, registrations }: ServedMethod,
  call: AdmittedCall,
  leased: Lease | undefined,
) {
  const { binding, ctx } = call.facts;
  const registration = registrations?.find(binding);
  if (registrations && registration?.isWatched !== false) call.entry = 'unseen';
  const end = (ended: () => RecordedOutcome, isOfSdk: boolean | undefined) => {
    if (call.entry === 'rejected' || (call.entry === 'unseen' && isOfSdk)) return leased?.release();
    return leased?.settle(ctx.mcpReq.signal.aborted && call.threw ? () => ({ lost: true }) : ended);
  };
  let result: unknown;
  try {
    result = await serve(call, handler);
  } catch (thrown) {
    // The SDK cannot answer with any other value, and its client would wait for ever.
    const error = typeof thrown === 'object' && thrown !== null ? thrown : new Error(String(thrown));
    call.threw = true;
    if (leased) await end(() => recordError(error), isSdkRejection(error));
    throw error;
  }
  // Nobody called the registered callback, and the SDK still enters it: so the SDK made this result of arguments that do not
  // fit. In doubt, the token is used up: a lease that is given back wrongly lets an effect happen twice.
  if (leased) await end(() => ({ result }), isErrorResult(result) && registration?.isWatched);
  return result;
}

/** Answers a repeated retry with the first one's recorded outcome. */
function repeat(recorded: RecordedOutcome, call: AdmittedCall) {
  if ('lost' in recorded) {
    const { rejections, token } = call.facts;
    rejections.reportRejected({ reason: 'lost' }, call, token);
    return endCall(call, OUTCOME_UNKNOWN);
  }
  const { id, method, target } = call;
  publish('mrtr:state', { phase: 'replayed', method, target, bytes: 0, call: id });
  if ('tooLarge' in recorded) return endCall(call, TOO_LARGE);
  if ('error' in recorded) throw new ProtocolError(...recorded.error);
  return recorded.result;
}

const OUTCOME_UNKNOWN =
  'This step was started and did not end properly, so its outcome is unknown. Find out what was done before you ' +
  'start again.';

const TOO_LARGE = 'This step was done. Its result is too large to repeat.';

const digestOf = (answers: Members) => hash('sha256', canonicalJson(answers), 'base64url');
