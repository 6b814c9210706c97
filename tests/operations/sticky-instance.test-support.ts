/** A server process: option H over HTTP, under its name in the router. Lives as long as its parent. */

import { createWorld } from '@mrtr/comparison';
import { loadOption } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { serveHttp } from '@mrtr/hosting/http';

const { INSTANCE: instance, STATE_KEY } = process.env;
if (!instance || !STATE_KEY || !process.send) {
  throw new Error('An instance is started by the proof, which gives it INSTANCE, STATE_KEY and a channel.');
}
// Without a ledger: a parked handler is resumed once, by the first retry that reaches it.
const policy = requestStatePolicy({ keys: [STATE_KEY], singleUse: false });
const option = await loadOption('h');
const hosting = await serveHttp(option.create({ world: createWorld(), policy, instance }));
process.once('disconnect', () => void hosting.close());
process.send(hosting.url.host);
