/**
 * The program of one instance: a store, and a site on it that listens on HTTP. Its parent process, which outlives it,
 * performs the effects.
 */
import { serveHttp } from '@mrtr/hosting/http';
import { PostgresInteractions } from '@mrtr/ledgers/postgres';
import { DbosStore } from '@mrtr/linear-dbos';
import { rpcOver } from '@mrtr/matrix/rpc';
import { Pool } from 'pg';
import { resolveOptions, TIMES } from '../../packages/linear-dbos/src/options.ts';
import type { InstanceMethods, ParentMethods, Setting } from './instances.test-support.ts';
import { pageOn, policyOf, StoreServer } from './site.test-support.ts';

const {
  keys,
  takeOverSeconds = TIMES.takeOverSeconds,
  sweepSeconds = TIMES.sweepSeconds,
  ...options
} = JSON.parse(process.argv[2] ?? '{}') as Setting;
const methods: InstanceMethods = {
  parked: () => store.parked,
  close: () => void store.close().then(() => process.exit()),
};
const parent = rpcOver<ParentMethods, InstanceMethods>(process, methods, ['open', 'entered', 'report']);
void parent.closed.then(() => process.exit());

const policy = policyOf(keys);
const onerror = (error: Error) => void parent.remote.report(`${error.name}: ${error.message}`);
const settings = resolveOptions({ ...options, policy, onerror });
const store = await DbosStore.openWith({ ...settings, takeOverSeconds, sweepSeconds });
// The pool connects when a call first needs a page.
const pool = new Pool({ connectionString: options.postgres, max: 1 });
const site = new StoreServer(store, policy, {
  code: options.version,
  link: pageOn(new PostgresInteractions(pool), policy),
  entered: (item, by) => void parent.remote.entered(item, by),
  effect: (wanted) => parent.remote.perform(wanted),
});
// An access token is the name of its user.
const verifyAccessToken = async (token: string) => {
  const expiresAt = Date.now() / 1000 + 3600;
  return { token, clientId: 'app', scopes: [], expiresAt, extra: { sub: token } };
};
const { url } = await serveHttp(
  { server: () => site.server(), close: () => store.close() },
  { verifier: { verifyAccessToken } },
);

await parent.remote.open(url.href);
