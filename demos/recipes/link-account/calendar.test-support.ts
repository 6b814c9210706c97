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

/** Starts a calendar site without a sign-in: users name themselves when they decide. */
export async function startCalendar() {
  const grants = new Map<string, Grant>();
  /** Codes that are not redeemed yet. */
  const codes = new Map<string, Grant & { readonly user: string }>();
  /** Users by access token. */
  const users = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const { status, headers = {}, body = '' } = await answer(request);
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const calendar = {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    /** The redirect address of the one registered application. */
    redirectUri: '',
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return calendar;

  async function answer(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams } = new URL(request.url ?? '/', calendar.url);
    const form = request.method === 'POST' ? new URLSearchParams(await text(request)) : searchParams;
    switch (`${request.method} ${pathname}`) {
      case 'GET /authorize':
        return authorize(form);
      case 'POST /decide':
        return decide(form);
      case 'POST /token':
        return redeem(form);
      case 'GET /events':
        return listEvents(request.headers.authorization ?? '');
      default:
        return { status: 404 };
    }
  }

  /** Asks the user. Redirects only to the registered address. */
  function authorize(query: URLSearchParams): Reply {
    const [redirectUri, challenge] = [query.get('redirect_uri') ?? '', query.get('code_challenge') ?? ''];
    if (redirectUri !== calendar.redirectUri) return { status: 400, body: 'Unknown application.' };
    if (query.get('code_challenge_method') !== 'S256' || challenge === '') return { status: 400 };
    const grant = keep(grants, { redirectUri, state: query.get('state') ?? '', challenge });
    return { status: 200, body: `Allow '${query.get('client_id')}' to read your events? grant=${grant}` };
  }

  function decide(form: URLSearchParams): Reply {
    const grant = take(grants, form.get('grant'));
    if (!grant) return { status: 400 };
    const back = new URL(grant.redirectUri);
    back.searchParams.set('state', grant.state);
    back.searchParams.set('iss', calendar.url.origin);
    if (form.get('allow') === 'yes') {
      back.searchParams.set('code', keep(codes, { ...grant, user: form.get('user') ?? '' }));
    } else back.searchParams.set('error', 'access_denied');
    return { status: 303, headers: { location: back.href } };
  }

  /** Redeems a code, once, for the application that asked for it. */
  function redeem(form: URLSearchParams): Reply {
    const code = take(codes, form.get('code'));
    const verifier = form.get('code_verifier') ?? '';
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    if (form.get('redirect_uri') !== code?.redirectUri || challenge !== code.challenge)
      return { status: 400, body: JSON.stringify({ error: 'invalid_grant' }) };
    const access_token = keep(users, code.user);
    const body = { access_token, token_type: 'Bearer', account: `${code.user}@calendar.example` };
    return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  }

  function listEvents(authorization: string): Reply {
    const user = users.get(authorization.replace(/^Bearer /, ''));
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
