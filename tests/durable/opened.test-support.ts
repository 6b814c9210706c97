import type { RequestStatePolicy } from '@mrtr/core';
import type { DbosStoreOptions } from '@mrtr/linear-dbos';
import { DbosStore } from '@mrtr/linear-dbos';
import { onTestFinished } from 'vitest';
import { resolveOptions, TIMES, type Times } from '../../packages/linear-dbos/src/options.ts';
import { Shop } from './shop.test-support.ts';
import { answering, type RoundSummary, type Sent, StoreServer, type Trade } from './site.test-support.ts';

/** The options of a store, and the policy of the servers on it. */
export type Options = Omit<DbosStoreOptions, 'policy' | 'version' | 'onerror'> &
  Partial<Times> & { readonly policy: RequestStatePolicy };

/** A store that is open until the test ends, and a site that uses it. */
export async function opened({
  takeOverSeconds = TIMES.takeOverSeconds,
  sweepSeconds = TIMES.sweepSeconds,
  ...options
}: Options) {
  const { policy, postgres } = options;
  const errors: Error[] = [];
  const onerror = (error: Error) => void errors.push(error);
  const settings = resolveOptions({ ...options, version: '1', onerror });
  const store = await DbosStore.openWith({ ...settings, takeOverSeconds, sweepSeconds });
  onTestFinished(() => store.close());
  const shop = new Shop();
  const effect: Trade['effect'] = (wanted) => shop.of(wanted.item).perform(wanted);
  const site = new StoreServer(store, policy, { effect });
  const answer = (asked: RoundSummary, content: Readonly<Record<string, string>>, sent: Sent = {}) =>
    site.send({ ...answering(asked, content), ...sent });
  return { postgres, store, errors, shop, site, answer };
}
