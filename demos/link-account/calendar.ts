/** A calendar on a site of its own: an authorisation server (RFC 6749 code flow, PKCE, RFC 9207), and the API behind it. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An application's request for access. */
interface Grant {
  readonly redirectUri: string;
  readonly state: string;
  readonly challenge: string;
}

interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A calendar site without a sign-in: users name themselves when they decide. */
export class Calendar {
  /** The redirect address of the one registered application. */
  redirectUri = '';
  readonly #grants = new Map<string, Grant>();
  /** Codes that are not redeemed yet. */
  readonly #codes = new Map<string, Grant & { readonly user: string }>();
  /** Users by access token. */
  readonly #users = new Map<string, string>();
  readonly #server = createServer(async (request, response) => {
    const { status, headers = {}, body = '' } = await this.#answer(request);
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(body);
  });

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const form = request.method === 'POST' ? new URLSearchParams(await text(request)) : searchParams;
    switch (`${request.method} ${pathname}`) {
      case 'GET /authorize':
        return this.#authorize(form);
      case 'POST /decide':
        return this.#decide(form);
      case 'POST /token':
        return this.#redeem(form);
      case 'GET /events':
        return this.#events(request.headers.authorization ?? '');
      default:
        return { status: 404 };
    }
  }

  /** Asks the user. Redirects only to the registered address. */
  #authorize(query: URLSearchParams): Reply {
    const [redirectUri, challenge] = [query.get('redirect_uri') ?? '', query.get('code_challenge') ?? ''];
    if (redirectUri !== this.redirectUri) return { status: 400, body: 'Unknown application.' };
    if (query.get('code_challenge_method') !== 'S256' || challenge === '') return { status: 400 };
    const grant = keep(this.#grants, { redirectUri, state: query.get('state') ?? '', challenge });
    return { status: 200, body: `Allow '${query.get('client_id')}' to read your events? grant=${grant}` };
  }

  #decide(form: URLSearchParams): Reply {
    const grant = take(this.#grants, form.get('grant'));
    if (!grant) return { status: 400 };
    const back = new URL(grant.redirectUri);
    back.searchParams.set('state', grant.state);
    back.searchParams.set('iss', this.url.origin);
    if (form.get('allow') === 'yes') {
      back.searchParams.set('code', keep(this.#codes, { ...grant, user: form.get('user') ?? '' }));
    } else back.searchParams.set('error', 'access_denied');
    return { status: 303, headers: { location: back.href } };
  }

  /** Redeems a code, once, for the application that asked for it. */
  #redeem(form: URLSearchParams): Reply {
    const code = take(this.#codes, form.get('code'));
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (form.get('redirect_uri') !== code?.redirectUri || challenge !== code.challenge)
      return { status: 400, body: JSON.stringify({ error: 'invalid_grant' }) };
    const access_token = keep(this.#users, code.user);
    const body = { access_token, token_type: 'Bearer', account: `${code.user}@calendar.example` };
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  }

  #events(authorization: string): Reply {
    const user = this.#users.get(authorization.replace(/^Bearer /, ''));
    if (user === undefined) return { status: 401 };
    return { status: 200, body: `Today ${user} has a bicycle to fetch, at 17:00.` };
  }
}

/** Keeps a value under a secret, which it returns. */
function keep<T>(values: Map<string, T>, value: T): string {
  const secret = randomBytes(16).toString('base64url');
  values.set(secret, value);
  return secret;
}

/** A value that can be taken once. */
function take<T>(values: Map<string, T>, secret: string | null): T | undefined {
  const value = values.get(secret ?? '');
  values.delete(secret ?? '');
  return value;
}
