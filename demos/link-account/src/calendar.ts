/** A calendar on a site of its own: an authorisation server (RFC 6749 code flow, PKCE, RFC 9207), and the API behind it. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Grant {
  readonly user: string;
  readonly redirectUri: string;
  readonly clientId: string;
  readonly state: string;
  readonly challenge: string;
}

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const random = () => randomBytes(16).toString('base64url');

/** The site. It has users `ada` and `mallory`, who sign in with their names. */
export class Calendar {
  /** Addresses that applications may have browsers sent back to, by their client id. */
  readonly registered = new Map<string, string>();
  readonly #server: Server;
  readonly #sessions = new Map<string, string>();
  readonly #grants = new Map<string, Grant>();
  readonly #codes = new Map<string, Grant>();
  readonly #tokens = new Map<string, string>();

  constructor() {
    this.#server = createServer(async (request, response) => {
      const { status, headers = {}, body = '' } = await this.#answer(request);
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(body);
    });
  }

  async start(): Promise<URL> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this.url;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const user = this.#sessions.get(/(?:^|; )calendar=([^;]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '');
    const form = request.method === 'POST' ? new URLSearchParams(await text(request)) : searchParams;
    const isOwn = request.headers.origin === this.url.origin;
    switch (`${request.method} ${pathname}`) {
      case 'POST /sign-in':
        return isOwn ? this.#signIn(form) : { status: 403 };
      case 'GET /authorize':
        return this.#authorize(form, user);
      case 'POST /decide':
        return isOwn ? this.#decide(form, user) : { status: 403 };
      case 'POST /token':
        return this.#redeem(form);
      case 'GET /events':
        return this.#events(request.headers.authorization ?? '');
      default:
        return { status: 404 };
    }
  }

  #signIn(form: URLSearchParams): Reply {
    const session = random();
    this.#sessions.set(session, form.get('user') ?? '');
    return { status: 200, headers: { 'set-cookie': `calendar=${session}; HttpOnly; SameSite=Lax; Path=/` } };
  }

  /** Asks the user. An application that is not registered, or another address, is never redirected to. */
  #authorize(query: URLSearchParams, user: string | undefined): Reply {
    const [clientId, redirectUri] = [query.get('client_id') ?? '', query.get('redirect_uri') ?? ''];
    if (this.registered.get(clientId) !== redirectUri) return { status: 400, body: 'Unknown application.' };
    const challenge = query.get('code_challenge') ?? '';
    if (query.get('code_challenge_method') !== 'S256' || challenge === '') return { status: 400 };
    if (user === undefined) return { status: 401, body: 'Sign in first.' };
    const id = random();
    this.#grants.set(id, { user, redirectUri, clientId, state: query.get('state') ?? '', challenge });
    return { status: 200, body: `Allow '${clientId}' to read the events of ${user}? grant=${id}` };
  }

  #decide(form: URLSearchParams, user: string | undefined): Reply {
    const grant = this.#grants.get(form.get('grant') ?? '');
    if (!grant || grant.user !== user) return { status: 400 };
    this.#grants.delete(form.get('grant') ?? '');
    const back = new URL(grant.redirectUri);
    back.searchParams.set('state', grant.state);
    back.searchParams.set('iss', this.url.origin);
    if (form.get('allow') === 'yes') {
      const code = random();
      this.#codes.set(code, grant);
      back.searchParams.set('code', code);
    } else back.searchParams.set('error', 'access_denied');
    return { status: 303, headers: { location: back.href } };
  }

  /** Redeems a code, once, for the application that asked for it. */
  #redeem(form: URLSearchParams): Reply {
    const code = form.get('code') ?? '';
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const { redirectUri, clientId } = grant ?? {};
    const isTheirs = form.get('client_id') === clientId && form.get('redirect_uri') === redirectUri;
    if (!grant || !isTheirs || challenge !== grant.challenge) {
      return { status: 400, body: JSON.stringify({ error: 'invalid_grant' }) };
    }
    const token = random();
    this.#tokens.set(token, grant.user);
    const body = { access_token: token, token_type: 'Bearer', account: `${grant.user}@calendar.example` };
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  }

  #events(authorization: string): Reply {
    const user = this.#tokens.get(authorization.replace(/^Bearer /, ''));
    if (user === undefined) return { status: 401 };
    return { status: 200, body: `Today ${user} has a bicycle to fetch, at 17:00.` };
  }
}
