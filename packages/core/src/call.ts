/** What the boundary knows of the request being served and the SDK's `ctx` does not carry. */
import type { ServerContext } from '@modelcontextprotocol/server';
import { UnprotectedServer } from './errors.ts';
import type { ClientCapabilities, MrtrMethod } from './wire.ts';

/**
 * What an old client (2025-11-25) gets from a tool that asks. `shim`: the SDK asks it over the held-open
 * stream and re-enters the handler. `degrade`: it is not asked; the tool answers with a default or an error.
 */
export type LegacyPolicy = 'shim' | 'degrade';

/** One request of a logical call, as the boundary sees it. */
export interface Call {
  readonly method: MrtrMethod;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly target: string;
  /** The connection's protocol revision; undefined on stateless serving of an old client. */
  readonly revision: string | undefined;
  /** What an old client declared when it initialised; undefined where no such connection is held. */
  readonly legacyCapabilities: ClientCapabilities | undefined;
  readonly legacy: LegacyPolicy;
  /** A digest of who is calling, salted by this process; undefined where nobody is authenticated. */
  readonly principal: string | undefined;
  /** 1 on the first entry; grows by one with every echo of `requestState`. */
  readonly round: number;
  /** The unique id of the token that this request came with; undefined in a first request. Not for the wire. */
  readonly tokenId: string | undefined;
  /** The round from which no further question may go out. */
  readonly maxRounds: number;
  /** The policy's ceiling of questions in one round. */
  readonly maxQuestions: number;
  /** The policy's ceiling of sealed state, in bytes. */
  readonly maxStateBytes: number;
  /** The shape that serves the request; undefined where the registered callback is the author's own function. */
  shape?: string;
  /** What the state that this request returns ends in; set by `routeBy`. */
  routingLabel?: string;
}

const CALL = Symbol.for('mrtr.call');

type Carrying = ServerContext & { [CALL]?: Call };

/**
 * A context that carries `call`, and `mcpReq` where one is given. A symbol key, because the SDK spreads contexts and a
 * spread keeps it.
 */
export function withCall(ctx: ServerContext, call: Call, mcpReq = ctx.mcpReq): ServerContext {
  return { ...ctx, mcpReq, [CALL]: call } as ServerContext;
}

/** The boundary's view of this request, or undefined on a server without `protectRequestState`. */
export const findCall = (ctx: ServerContext): Call | undefined => (ctx as Carrying)[CALL];

/**
 * The boundary's view of this request.
 *
 * @param shape the name of the shape that serves the request, for observers.
 * @throws UnprotectedServer when the server was not given to `protectRequestState`: without it, whatever
 * the handler stores in `requestState` could be forged.
 */
export function callOf(ctx: ServerContext, shape?: string): Call {
  const call = findCall(ctx);
  if (call && shape !== undefined) call.shape = shape;
  if (call) return call;
  throw new UnprotectedServer(
    `${ctx.mcpReq.method} reached a handler that keeps request state on a server that does not protect it. ` +
      'Call protectRequestState(server, policy) on the new McpServer before anything is registered.',
  );
}
