/** The boundary's record of a request, with facts that the SDK's `ctx` lacks: its call, and its protocol revision. */
import { hash } from 'node:crypto';
import {
  type ClientCapabilities,
  PROTOCOL_VERSION_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { UnprotectedServer } from '../errors.ts';
import type { AnswerReads } from './answer-reads.ts';
import type { InputKind } from './input-kind.ts';
import type { MrtrMethod } from './wire.ts';

/**
 * How an old client (2025-11-25) is asked. `shim`: the SDK asks it over the open stream and enters the handler again.
 * `degrade`: only `askLive` asks it; any other question ends the call with a default or an error.
 */
export type LegacyPolicy = 'shim' | 'degrade';

/** One request of a logical call, as the boundary sees it. */
export interface Call {
  /** A random id of the call: the same in all its rounds, on every instance and in every event. Not for clients. */
  readonly id: string;
  readonly method: MrtrMethod;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly target: string;
  /** The connection's protocol revision; undefined on stateless serving of an old client. */
  readonly revision: string | undefined;
  /** The capabilities of an old client's connection; undefined without such a connection. */
  readonly legacyCapabilities: ClientCapabilities | undefined;
  readonly legacy: LegacyPolicy;
  /** 1 for the first request; each returned `requestState` adds one. */
  readonly round: number;
  /** The last round that may ask, the most questions of one round, and the most bytes of sealed state. */
  readonly limits: Readonly<Record<'rounds' | 'questions' | 'stateBytes', number>>;
  /** The kinds of input that this request's client can be asked for. */
  readonly askable: readonly InputKind[];
  /** The version that the state is sealed with. */
  readonly version?: string | undefined;
  /** How often in a row each question was asked, as key → times. The error of the last round lists them. */
  readonly timesAsked: ReadonlyMap<string, number>;
  /** How many answers to each question did not fit, as key → times. */
  readonly timesUnfit: ReadonlyMap<string, number>;
  /** A keyed digest of the caller's principal, the same on all instances; undefined for an anonymous caller. */
  readonly pseudonym: string | undefined;
  /** The policy's audience: the name of the called server. */
  readonly audience: string;
  /** Whether `text` is this caller's {@link pseudonym} under any key of the key ring, so also under a rotated one. */
  isPseudonym(text: string | undefined): boolean;
  /** The questions of the round before, as key → digest. Undefined where the policy accepts unasked answers. */
  readonly asked: ReadonlyMap<string, string> | undefined;
  /**
   * Fires when the client cancels the request. On 2026-07-28 it may also fire after the response, so stop listening when the
   * round has ended. It is the SDK's own: to read `ctx.mcpReq.signal` makes another one.
   */
  readonly signal: AbortSignal;
  /**
   * Rejects this request because its state does not fit this code. The client gets `-32602`, even if the handler
   * catches the error. `why` goes to the operator's log, so keep values out of it.
   */
  rejectState(why: string): never;
  /** Reports an error that the client does not see to the server's and the policy's `onerror`. */
  report(error: unknown): void;
  /** Makes the stamp of a new answer under `key` to the question with the digest `asked`. `askedAt` is in seconds; default: now. */
  stamp(key: string, askedAt?: number, asked?: string): AnswerStamp;
  /** Records the reads of answers, so that the boundary notices an ignored answer. */
  readonly reads: AnswerReads;
}

/** The facts of one answer: the boundary stamps each answer to an elicitation with them. */
export interface AnswerStamp {
  /** The call's id. */
  readonly call: string;
  /** The question's key. */
  readonly key: string;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly target: string;
  /** SHA-256 of the arguments' canonical JSON, base64url. */
  readonly argumentsDigest: string;
  /** The caller's pseudonym; undefined for an anonymous caller. */
  readonly pseudonym?: string | undefined;
  /** When the question went out, in seconds since the epoch. */
  readonly askedAt: number;
  /** When the answer came in, in seconds since the epoch. */
  readonly answeredAt: number;
  /** The digest of the question that went out under `key`; undefined for an unasked answer that the policy accepts. */
  readonly asked?: string | undefined;
}

/**
 * What belongs to a call is under this symbol: in a context its record, in an answer its stamp, and in an HTTP request what
 * becomes of its handler.
 */
export const CALL: unique symbol = Symbol.for('mrtr.call');

type ContextWithCall = ServerContext & { [CALL]?: Call };

/**
 * A copy of the context that carries `call` and has another `mcpReq`. Under a symbol key: the SDK spreads
 * contexts, and a spread keeps it.
 */
export function withCall(ctx: ServerContext, call: Call, mcpReq: ServerContext['mcpReq']): ServerContext {
  return { ...ctx, mcpReq, [CALL]: call } as ServerContext;
}

/** The record of this request, or undefined on a server without `protectRequestState`. */
export const findCall = (ctx: ServerContext): Call | undefined => (ctx as ContextWithCall)[CALL];

/**
 * The record of this request.
 *
 * @throws UnprotectedServer on a server without `protectRequestState`: a client could forge the handler's state.
 */
export function callOf(ctx: ServerContext): Call {
  const call = findCall(ctx);
  if (call) return call;
  throw new UnprotectedServer(
    `${ctx.mcpReq.method} reached a handler that keeps request state on a server that does not protect it. ` +
      'Call protectRequestState(server, policy) on the new McpServer before you register anything.',
  );
}

/** The first revision in which a server asks by returning `input_required` (SEP-2322). */
export const MRTR_REVISION = '2026-07-28';

/** Whether a revision has `input_required`. Revisions are dates, so they compare as text. */
export const isModern = (revision: string | undefined) => revision !== undefined && revision >= MRTR_REVISION;

/**
 * Whether this request's client understands `input_required`. On a protected server the connection's revision decides,
 * which a client cannot forge; otherwise the request's envelope does.
 *
 * @example const answer = speaksMrtr(ctx) ? readAnswer(ctx, 'units', units) : await askLive(ctx, 'units', units);
 */
export function speaksMrtr(ctx: ServerContext): boolean {
  const call = findCall(ctx);
  if (call) return isModern(call.revision);
  const declared = (ctx.mcpReq.envelope as Record<string, unknown> | undefined)?.[PROTOCOL_VERSION_META_KEY];
  return typeof declared === 'string' && isModern(declared);
}

/**
 * A key for the effect `name` of this call: the same in every round, on every instance, and for a repeated retry. Pass
 * it to the service that performs the effect, so that the effect happens once even if this process dies before
 * recording it. A first request that is sent again is another call, with other keys.
 *
 * @throws UnprotectedServer on a server without `protectRequestState`: there the rounds of a call have nothing in common.
 * @example await mailer.send(letter, { idempotencyKey: idempotencyKey(ctx, 'mail') });
 */
export const idempotencyKey = (ctx: ServerContext, name: string): string =>
  idempotencyKeyOf(callOf(ctx), name);

/** {@link idempotencyKey}, for a shape that has the call's record. */
export const idempotencyKeyOf = ({ id }: Pick<Call, 'id'>, name: string): string =>
  hash('sha256', `${id} ${name}`, 'base64url').slice(0, 22);
