/** The authenticated caller of a client's requests. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Endpoint, Fetch } from './endpoint.ts';

// Clients have no option for the caller, and two requests of one client may have two callers at once.
const current = new AsyncLocalStorage<AuthInfo>();

/** The caller of this code's requests. Undefined for an anonymous one. */
export const currentCaller = (): AuthInfo | undefined => current.getStore();

/** Runs `work` as `caller`. If undefined, the caller stays the same. */
export const asCaller = <T>(caller: AuthInfo | undefined, work: () => T): T =>
  caller ? current.run(caller, work) : work();

/** The options of the clients' HTTP transports: they send the caller's token as a bearer token. */
export const httpOptions = ({ fetch: send = fetch, headers = {} }: Extract<Endpoint, { kind: 'http' }>) => ({
  requestInit: { headers },
  fetch: ((url, init) => {
    const caller = currentCaller();
    if (!caller) return send(url, init);
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${caller.token}`);
    return send(url, { ...init, headers });
  }) satisfies Fetch,
});

/** An authenticated caller whose `sub` is `name`. */
export const callerNamed = (name: string): AuthInfo => ({
  token: `token-of-${name}`,
  clientId: 'app',
  scopes: [],
  extra: { sub: name },
});
