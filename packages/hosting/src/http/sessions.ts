/** Sessions of old clients: one server and one transport each, kept so that a tool can ask. */
import { randomUUID } from 'node:crypto';
import { type AuthInfo, type InitializeRequest, isInitializeRequest } from '@modelcontextprotocol/server';
import {
  addGauge,
  aTimeInSeconds,
  type OptionChecks,
  Quota,
  wholeNumbers,
  withDefaults,
} from '@mrtr/core/kit';
import { noRoom, problem } from '../admission/problem.ts';
import { buildServer, type OnError, type ServerInstance } from '../instance/server-instance.ts';
import { SessionTransport } from './session-transport.ts';
import { whenSent } from './when-sent.ts';

/** Bounds on old clients' sessions. */
export interface SessionLimits {
  /** Sessions at once. Default 1000. */
  readonly maxSessions?: number;
  /** Sessions at once of one principal. Default 50; anonymous callers share `maxSessions`. */
  readonly maxSessionsPerPrincipal?: number;
  /** Bytes that all sessions keep of their `initialize`. Default 16 MiB. */
  readonly maxSessionBytes?: number;
  /** The same of one principal. Default 1 MiB; anonymous callers share `maxSessionBytes`. */
  readonly maxSessionBytesPerPrincipal?: number;
  /**
   * How long a session may be idle, in seconds. Then it is closed. A session with a call in progress is not idle, even if
   * its client hung up. Default 3600.
   */
  readonly sessionIdleSeconds?: number;
}

export const SESSION_DEFAULTS = {
  maxSessions: 1000,
  maxSessionsPerPrincipal: 50,
  maxSessionBytes: 16_777_216,
  maxSessionBytesPerPrincipal: 1_048_576,
  sessionIdleSeconds: 3600,
};

export const SESSION_CHECKS: OptionChecks<SessionLimits> = {
  ...wholeNumbers(SESSION_DEFAULTS),
  sessionIdleSeconds: aTimeInSeconds,
};

/** The sender of a request. */
export interface Caller {
  readonly authInfo: AuthInfo | undefined;
  readonly principal: string | undefined;
}

interface Session {
  readonly transport: SessionTransport;
  readonly principal: string | undefined;
  /** The size of the `initialize` that it keeps. */
  readonly bytes: number;
  lastUsed: number;
  open: number;
}

/** Serves clients at 2025-11-25 with sessions. */
export class Sessions {
  readonly #served: ServerInstance;
  readonly #limits: Required<SessionLimits>;
  readonly #onerror: OnError | undefined;
  readonly #sessions = new Map<string, Session>();
  readonly #places: Quota;
  readonly #bytes: Quota;
  readonly #sweeper: NodeJS.Timeout;

  constructor(served: ServerInstance, limits: SessionLimits = {}, onerror?: OnError) {
    this.#served = served;
    this.#limits = withDefaults(limits, SESSION_DEFAULTS);
    this.#onerror = onerror;
    this.#places = new Quota(this.#limits.maxSessions, this.#limits.maxSessionsPerPrincipal);
    this.#bytes = new Quota(this.#limits.maxSessionBytes, this.#limits.maxSessionBytesPerPrincipal);
    addGauge('sessions', this, ({ size }) => size);
    this.#sweeper = setInterval(
      () => void this.#sweep(),
      Math.min(this.#limits.sessionIdleSeconds * 1000, 60_000),
    );
    this.#sweeper.unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Serves a request of a session, or one that begins a session. */
  async handle(request: Request, parsedBody: unknown, caller: Caller): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : this.#sessions.get(id);
    // Another caller's session does not exist here: a session id is not a password.
    if (id !== null && (!session || session.principal !== caller.principal))
      return problem(404, 'Session not found', {}, -32000, 'http_no_session');
    if (session) return this.#use(session, request, parsedBody, caller);
    if (!isInitializeRequest(parsedBody))
      return problem(400, 'A session id is required; begin with initialize');
    return this.#begin(request, prune(parsedBody), caller);
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.keys()].map((id) => this.#end(id)));
  }

  async #begin(request: Request, initialize: InitializeRequest, caller: Caller) {
    const { principal } = caller;
    const bytes = Buffer.byteLength(JSON.stringify(initialize));
    const full = this.#places.take(principal);
    if (full) return noRoom(full, 'sessions');
    const fullOfBytes = this.#bytes.take(principal, bytes);
    if (fullOfBytes) {
      this.#places.giveBack(principal);
      return noRoom(fullOfBytes, 'bytes in sessions');
    }
    const id = randomUUID();
    const transport = new SessionTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#end(id),
    });
    const session: Session = { transport, principal, bytes, lastUsed: Date.now(), open: 0 };
    // Count it before the first await, so that clients that begin together cannot exceed the limit.
    this.#sessions.set(id, session);
    try {
      await buildServer(this.#served, this.#onerror).connect(transport);
      return await this.#use(session, request, initialize, caller);
    } finally {
      // The transport rejected it, for example for its Accept header.
      if (transport.sessionId === undefined) await this.#end(id);
    }
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(id);
    this.#places.giveBack(session.principal);
    this.#bytes.giveBack(session.principal, session.bytes);
    await session.transport.close();
  }

  async #use(
    session: Session,
    request: Request,
    parsedBody: unknown,
    { authInfo }: Caller,
  ): Promise<Response> {
    session.open++;
    const noteUse = () => {
      session.open--;
      session.lastUsed = Date.now();
    };
    try {
      const response = await session.transport.handleRequest(request, {
        ...(parsedBody !== undefined && { parsedBody }),
        ...(authInfo && { authInfo }),
      });
      return whenSent(request, response, noteUse);
    } catch (error) {
      noteUse();
      throw error;
    }
  }

  async #sweep(): Promise<void> {
    const stale = Date.now() - this.#limits.sessionIdleSeconds * 1000;
    for (const [id, session] of this.#sessions) {
      // Hanging up cancels nothing: the call still runs, and the session is idle only after its end.
      if (session.transport.hasOpenCalls) session.lastUsed = Date.now();
      else if (session.open === 0 && session.lastUsed <= stale) await this.#end(id);
    }
  }
}

/** The parts of an `initialize` that its session keeps: the fields of the specification, without icons. */
function prune(initialize: InitializeRequest): InitializeRequest {
  const { protocolVersion, capabilities, clientInfo } = initialize.params;
  const { name, version, title } = clientInfo;
  const client = { name, version, ...(title !== undefined && { title }) };
  return { ...initialize, params: { protocolVersion, capabilities, clientInfo: client } };
}
