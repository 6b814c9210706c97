/** Sessions of old clients: one server and one transport each, kept so that a tool can ask. */
import { randomUUID } from 'node:crypto';
import { type InitializeRequest, isInitializeRequest } from '@modelcontextprotocol/server';
import { addGauge, Quota } from '@mrtr/core/internal';
import { type AdmittedRequest, whenClosed } from './exchange.ts';
import type { Limits } from './limits.ts';
import { rejectFull, rejectHttp } from './rejections.ts';
import { buildServer, type OnError, type ServerInstance } from './server-instance.ts';
import { SessionTransport } from './session-transport.ts';

/** How long a session without a running call may be idle, in seconds. Then it is closed. */
export const IDLE_SECONDS = 3600;
/** The limit of what a session keeps of its `initialize`, in bytes. */
export const MAX_SESSION_BYTES = 16_384;

interface Session {
  readonly transport: SessionTransport;
  readonly principal: string | undefined;
  lastUsed: number;
  open: number;
}

/** Serves clients at 2025-11-25 with sessions. */
export function makeSessions(served: ServerInstance, limits: Limits, onerror?: OnError) {
  const sessions = new Map<string, Session>();
  const places = new Quota(limits.sessions, limits.perPrincipal);
  // From the first session on: Workers allow no timer outside of a request.
  let sweeper: NodeJS.Timeout | undefined;
  addGauge('sessions', sessions, ({ size }) => size);

  /** Serves a request of a session, or one that begins a session. */
  async function handle(admitted: AdmittedRequest) {
    const id = admitted.request.headers.get('mcp-session-id');
    const session = id === null ? undefined : sessions.get(id);
    // Another caller's session does not exist here: a session id is not a password.
    if (id !== null && (!session || session.principal !== admitted.principal))
      return rejectHttp(404, 'http_no_session', 'Session not found');
    if (session) return use(session, admitted);
    const message = admitted.body?.json;
    if (!isInitializeRequest(message))
      return rejectHttp(400, 'http_invalid', 'A session id is required; begin with initialize');
    return begin(admitted, prune(message));
  }

  /** Ends all sessions. */
  async function close() {
    clearInterval(sweeper);
    await Promise.all([...sessions.keys()].map((id) => end(id)));
  }

  async function begin(admitted: AdmittedRequest, initialize: InitializeRequest) {
    const { principal } = admitted;
    const bytes = Buffer.byteLength(JSON.stringify(initialize));
    if (bytes > MAX_SESSION_BYTES)
      return rejectHttp(
        413,
        'http_invalid',
        `A session keeps at most ${MAX_SESSION_BYTES} bytes of its initialize; declare less`,
      );
    const full = places.take(principal);
    if (full) return rejectFull(full, 'sessions');
    const id = randomUUID();
    const transport = new SessionTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => end(id),
    });
    const session: Session = { transport, principal, lastUsed: Date.now(), open: 0 };
    // Count it before the first await, so that clients that begin together cannot exceed the limit.
    sessions.set(id, session);
    sweeper ??= setInterval(() => void sweep(), 60_000).unref();
    try {
      await buildServer(served, onerror).connect(transport);
      return await use(session, { ...admitted, body: { json: initialize, bytes } });
    } finally {
      // The transport rejected it, for example for its Accept header.
      if (transport.sessionId === undefined) await end(id);
    }
  }

  async function end(id: string) {
    const session = sessions.get(id);
    if (!session) return;
    sessions.delete(id);
    places.giveBack(session.principal);
    await session.transport.close();
  }

  async function use(session: Session, { request, outgoing, body, authInfo }: AdmittedRequest) {
    session.open++;
    void whenClosed(outgoing).then(() => {
      session.open--;
      session.lastUsed = Date.now();
    });
    return session.transport.handleRequest(request, {
      ...(body && { parsedBody: body.json }),
      ...(authInfo && { authInfo }),
    });
  }

  async function sweep() {
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
    get size() {
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
