/** Sessions of old clients: one server and one transport each, kept so that a tool can ask. */
import { randomUUID } from 'node:crypto';
import { type AuthInfo, type InitializeRequest, isInitializeRequest } from '@modelcontextprotocol/server';
import { addGauge } from '@mrtr/core/internal';
import { whenSent } from './exchange.ts';
import { type Limits, quotaOf } from './limits.ts';
import { noRoom, problem } from './rejections.ts';
import { buildServer, type OnError, type ServerInstance } from './server-instance.ts';
import { SessionTransport } from './session-transport.ts';

/** How long a session without a running call may be idle, in seconds. Then it is closed. */
export const IDLE_SECONDS = 3600;
/** The bytes of its `initialize` that a session keeps, on average over all sessions. */
export const SESSION_BYTES = 16_384;

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
export function sessionsOf(served: ServerInstance, limits: Limits, onerror?: OnError) {
  const sessions = new Map<string, Session>();
  const places = quotaOf(limits.sessions, limits);
  const bytesHeld = quotaOf(limits.sessions * SESSION_BYTES, limits);
  const sweeper = setInterval(() => void sweep(), 60_000);
  sweeper.unref();
  addGauge('sessions', sessions, ({ size }) => size);

  /** Serves a request of a session, or one that begins a session. */
  async function handle(request: Request, parsedBody: unknown, caller: Caller): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : sessions.get(id);
    // Another caller's session does not exist here: a session id is not a password.
    if (id !== null && (!session || session.principal !== caller.principal))
      return problem(404, 'Session not found', {}, -32000, 'http_no_session');
    if (session) return use(session, request, parsedBody, caller);
    if (!isInitializeRequest(parsedBody))
      return problem(400, 'A session id is required; begin with initialize');
    return begin(request, prune(parsedBody), caller);
  }

  /** Ends all sessions. */
  async function close(): Promise<void> {
    clearInterval(sweeper);
    await Promise.all([...sessions.keys()].map((id) => end(id)));
  }

  async function begin(request: Request, initialize: InitializeRequest, caller: Caller) {
    const { principal } = caller;
    const bytes = Buffer.byteLength(JSON.stringify(initialize));
    const full = places.take(principal);
    if (full) return noRoom(full, 'sessions');
    const fullOfBytes = bytesHeld.take(principal, bytes);
    if (fullOfBytes) {
      places.giveBack(principal);
      return noRoom(fullOfBytes, 'bytes in sessions');
    }
    const id = randomUUID();
    const transport = new SessionTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => end(id),
    });
    const session: Session = { transport, principal, bytes, lastUsed: Date.now(), open: 0 };
    // Count it before the first await, so that clients that begin together cannot exceed the limit.
    sessions.set(id, session);
    try {
      await buildServer(served, onerror).connect(transport);
      return await use(session, request, initialize, caller);
    } finally {
      // The transport rejected it, for example for its Accept header.
      if (transport.sessionId === undefined) await end(id);
    }
  }

  async function end(id: string): Promise<void> {
    const session = sessions.get(id);
    if (!session) return;
    sessions.delete(id);
    places.giveBack(session.principal);
    bytesHeld.giveBack(session.principal, session.bytes);
    await session.transport.close();
  }

  async function use(
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

  async function sweep(): Promise<void> {
    const stale = Date.now() - IDLE_SECONDS * 1000;
    for (const [id, session] of sessions) {
      // Hanging up cancels nothing: the call still runs, and the session is idle only after its end.
      if (session.transport.hasOpenCalls) session.lastUsed = Date.now();
      else if (session.open === 0 && session.lastUsed <= stale) await end(id);
    }
  }

  return {
    handle,
    close,
    get size(): number {
      return sessions.size;
    },
  };
}

/** The parts of an `initialize` that its session keeps: the fields of the specification, without icons. */
function prune(initialize: InitializeRequest): InitializeRequest {
  const { protocolVersion, capabilities, clientInfo } = initialize.params;
  const { name, version, title } = clientInfo;
  const client = { name, version, ...(title !== undefined && { title }) };
  return { ...initialize, params: { protocolVersion, capabilities, clientInfo: client } };
}
