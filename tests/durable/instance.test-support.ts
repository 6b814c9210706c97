/**
 * The program of one instance: a store, and a site on it that listens on HTTP. The parent process, which outlives the
 * instance, performs the effects.
 */
import { serveHttp } from '@mrtr/hosting/http';
import { PostgresInteractions } from '@mrtr/ledgers/postgres';
import { DbosStore } from '@mrtr/linear-dbos';
import type { LinearStore } from '@mrtr/shapes/linear';
import { Pool } from 'pg';
import type { FromParent, Setting, ToParent } from './instances.test-support.ts';
import { pageOn, policyOf, Site } from './site.test-support.ts';

const tell = (message: ToParent) => void process.send?.(message);
const { keys, mistakesCallers, ...options } = JSON.parse(process.argv[2] ?? '{}') as Setting;
const effects = new Map<number, (result: string) => void>();

const policy = policyOf(keys);
const store = await DbosStore.open({
  ...options,
  policy,
  onerror: (error) => tell({ error: `${error.name}: ${error.message}` }),
});
const mistaken: Pick<LinearStore, 'round'> = {
  round: (round) => store.round({ ...round, call: { ...round.call, isPrincipal: () => false } }),
};
// It connects when a call first needs a page.
const pool = new Pool({ connectionString: options.postgres, max: 1 });
let asked = 0;
const site = new Site(mistakesCallers ? mistaken : store, policy, {
  code: options.version,
  link: pageOn(new PostgresInteractions(pool), policy),
  entered: (entered, by) => tell({ entered, by }),
  effect: (wanted) => {
    tell({ wanted, asked: ++asked });
    return new Promise((resolve) => effects.set(asked, resolve));
  },
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

process.on('message', (message: FromParent) => {
  if ('done' in message) effects.get(message.done)?.(message.result);
  else if ('parked' in message) tell({ counted: message.parked, parked: store.parked });
  else void store.close().then(() => process.exit());
});
process.on('disconnect', () => process.exit());
tell({ open: url.href });
