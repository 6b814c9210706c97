/** The authenticated caller on whose behalf a client sends requests. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { Endpoint, Fetch } from './endpoint.ts';

// The clients have no option for it, and two requests of one client may be of two callers at once.
const current = new AsyncLocalStorage<AuthInfo>();

/** The caller of the requests that this code sends; undefined for an anonymous one. */
export const currentCaller = (): AuthInfo | undefined => current.getStore();

/** Runs `work`, whose requests are those of `caller`. Without one, the caller stays who it is. */
export const asCaller = <T>(caller: AuthInfo | undefined, work: () => T): T =>
  caller ? current.run(caller, work) : work();

/** How the clients' transports reach an address: with the token of the caller, as a bearer token. */
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
