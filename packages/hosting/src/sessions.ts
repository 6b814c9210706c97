/** Sessions of old clients: one server and one transport each, held open so that a tool can ask. */
import { randomUUID } from 'node:crypto';
import { type AuthInfo, isInitializeRequest } from '@modelcontextprotocol/server';
import { problem } from './problem.ts';
import { type OnError, reporting, type Served } from './served.ts';
import { SessionTransport } from './session-transport.ts';
import { whenSent } from './when-sent.ts';

/** Bounds on what old clients can make a server hold. */
export interface SessionLimits {
  /** Sessions at once. Default 1000. */
  readonly max?: number;
  /** Sessions at once of one owner, who is a subject at a client. Default 50; anonymous callers share `max`. */
  readonly maxPerOwner?: number;
  /**
   * Calls of one session that have no response yet, those of a client that hung up included. Default 16. One call
   * more is refused, answers and cancellations never are.
   */
  readonly maxOpenCalls?: number;
  /**
   * A session without a request for this long is closed, in seconds; one with a call in progress is not. Default 3600.
   */
  readonly idleSeconds?: number;
}

const DEFAULTS = { max: 1000, maxPerOwner: 50, maxOpenCalls: 16, idleSeconds: 3600 };

interface Session {
  readonly transport: SessionTransport;
  readonly owner: string | undefined;
  lastUsed: number;
  open: number;
}

/** Serves clients at 2025-11-25 with sessions. */
export class Sessions {
  readonly #served: Served;
  readonly #limits: Required<SessionLimits>;
  readonly #onerror: OnError | undefined;
  readonly #sessions = new Map<string, Session>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(served: Served, limits: SessionLimits = {}, onerror?: OnError) {
    this.#served = served;
    this.#limits = { ...DEFAULTS, ...limits };
    this.#onerror = onerror;
    this.#sweeper = setInterval(() => void this.#sweep(), Math.min(this.#limits.idleSeconds * 1000, 60_000));
    this.#sweeper.unref();
  }

  /** Sessions held now. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Serves one request of a session, or one that begins a session. */
  async handle(request: Request, parsedBody: unknown, authInfo: AuthInfo | undefined): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : this.#sessions.get(id);
    // Somebody else's session does not exist: a session id is not a password.
    if (id !== null && (!session || session.owner !== ownerOf(authInfo)))
      return problem(404, 'Session not found');
    if (session) return this.#use(session, request, parsedBody, authInfo);
    if (!isInitializeRequest(parsedBody))
      return problem(400, 'A session id is required; begin with initialize');
    if (this.#sessions.size >= this.#limits.max) return problem(503, 'Too many sessions; try again later');
    if (this.#isFull(ownerOf(authInfo))) {
      return problem(503, 'You have too many sessions; end one, or try again later');
    }
    return this.#begin(request, parsedBody, authInfo);
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
    this.#sessions.clear();
  }

  #isFull(owner: string | undefined): boolean {
    if (owner === undefined) return false;
    const theirs = [...this.#sessions.values()].filter((session) => session.owner === owner);
    return theirs.length >= this.#limits.maxPerOwner;
  }

  async #begin(request: Request, parsedBody: unknown, authInfo: AuthInfo | undefined): Promise<Response> {
    const id = randomUUID();
    const transport = new SessionTransport(this.#limits.maxOpenCalls, {
      sessionIdGenerator: () => id,
      onsessionclosed: () => void this.#sessions.delete(id),
    });
    const session: Session = { transport, owner: ownerOf(authInfo), lastUsed: Date.now(), open: 0 };
    // Counted before anything is awaited: clients that begin together must not pass the limit together.
    this.#sessions.set(id, session);
    try {
      await reporting(this.#served, this.#onerror).connect(transport);
      return await this.#use(session, request, parsedBody, authInfo);
    } finally {
      // Refused by the transport, for its Accept header for example.
      if (transport.sessionId === undefined) {
        this.#sessions.delete(id);
        await transport.close();
      }
    }
  }

  async #use(
    session: Session,
    request: Request,
    parsedBody: unknown,
    authInfo: AuthInfo | undefined,
  ): Promise<Response> {
    session.open++;
    const used = () => {
      session.open--;
      session.lastUsed = Date.now();
    };
    try {
      const response = await session.transport.handleRequest(request, {
        ...(parsedBody !== undefined && { parsedBody }),
        ...(authInfo && { authInfo }),
      });
      return whenSent(request, response, used);
    } catch (error) {
      used();
      throw error;
    }
  }

  async #sweep(): Promise<void> {
    const stale = Date.now() - this.#limits.idleSeconds * 1000;
    for (const [id, session] of this.#sessions) {
      if (session.open > 0 || session.lastUsed > stale) continue;
      this.#sessions.delete(id);
      await session.transport.close();
    }
  }
}

const ownerOf = (authInfo: AuthInfo | undefined): string | undefined =>
  authInfo && JSON.stringify([authInfo.clientId, authInfo.extra?.sub ?? authInfo.token]);
