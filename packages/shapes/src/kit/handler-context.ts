/** The part of a handler's context that all shapes share. */
import type {
  AuthInfo,
  LoggingLevel,
  StandardSchemaV1,
  StandardSchemaWithJSON,
} from '@modelcontextprotocol/server';
import {
  type AnswerOf,
  type Answers,
  canAsk,
  type ElicitationOptions,
  type InputKind,
  type Question,
  type Questions,
  type ServerContext,
  type Words,
} from '@mrtr/core';
import { sharedGetter } from '@mrtr/core/internal';
import { callOf, idempotencyKeyOf } from '@mrtr/core/shape';

/** The context of a handler. In H it has no `request`. */
export interface HandlerContext {
  /** The SDK's context of this round. */
  readonly request: ServerContext;
  /**
   * The authenticated sender of this request: v1's `extra.authInfo`, without its token. Undefined for an anonymous
   * request. In H on PostgreSQL, `extra` has only the members that are JSON.
   */
  readonly caller: Pick<AuthInfo, 'clientId' | 'scopes' | 'extra'> | undefined;
  /** Whether this round's client can be asked; see `canAsk` of `@mrtr/core`. */
  canAsk(kind: InputKind): boolean;
  /**
   * A key for the effect `key` of this call: the same in every round, on every instance, and for a repeated retry. Pass
   * it to the service that performs the effect, so that the effect happens once even if this process dies before
   * recording it.
   */
  idempotencyKey(key: string): string;
  /** Fires when the client cancels this request. */
  readonly signal: AbortSignal;
  /** Reports progress, if the client requested it. `progress` must grow within a round. */
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** Sends a log message to the client. Needs the server's `logging` capability. */
  log(level: LoggingLevel, data: unknown, logger?: string): Promise<void>;
}

/** Asks for a form, and returns the user's validated answer. */
export type Elicit = <S extends StandardSchemaWithJSON>(
  message: string | Words,
  schema: S,
  options?: ElicitationOptions<StandardSchemaV1.InferOutput<S>>,
) => Promise<StandardSchemaV1.InferOutput<S>>;

/** Asks one question, or several questions in one round, and waits for all answers. */
export interface Ask {
  <Q extends Question>(key: string, question: Q): Promise<AnswerOf<Q>>;
  <Q extends Questions>(questions: Q): Promise<Answers<Q>>;
}

/**
 * The caller of a request, without the token: a waiting handler would keep it in memory, and PostgreSQL would store it.
 */
export function callerOf({ http }: Pick<ServerContext, 'http'>): HandlerContext['caller'] {
  if (http?.authInfo === undefined) return undefined;
  const { clientId, scopes, extra } = http.authInfo;
  return { clientId, scopes, ...(extra && { extra }) };
}

/** Makes the context of one round, to which a shape adds its own members. */
export function handlerContext(request: ServerContext): HandlerContext {
  const { mcpReq } = request;
  const context: Omit<HandlerContext, 'signal'> = {
    request,
    caller: callerOf(request),
    canAsk: (kind) => canAsk(request, kind),
    idempotencyKey: (key) => idempotencyKeyOf(callOf(request), key),
    progress: (progress, total, message) => sendProgress(request, { progress, total, message }),
    log: (level, data, logger) => mcpReq.log(level, data, logger),
  };
  return Object.defineProperty(context as HandlerContext, 'signal', SIGNAL_MEMBER);
}

/** Made on first read, because few handlers read it. So nothing of ours spreads a context. */
const SIGNAL_MEMBER = sharedGetter(({ request }: HandlerContext) => request.mcpReq.signal);

/** Sends a progress notification for `request`, if its client sent a progress token. */
export async function sendProgress(
  { mcpReq }: ServerContext,
  params: { progress: number; total: number | undefined; message: string | undefined },
) {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...params } });
}
