/** Three processes of option H behind HAProxy, with the configuration of docs/sticky-routing.md. */
import { readPosted, requestInit } from '@mrtr/harness/internal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  isInstalled,
  type Router,
  readConfiguration,
  startRouter,
  withoutRule,
} from './routers.test-support.ts';
import { call } from './sticky-caller.test-support.ts';
import { type StickyFleet, startFleet } from './sticky-fleet.test-support.ts';

const installed = isInstalled();
const WHY = installed ? '' : ' (SKIPPED: haproxy is not installed here; apt-get install haproxy)';
const testRouting = (name: string, body: () => Promise<void>) =>
  test.skipIf(!installed)(`${name}${WHY}`, body);

let fleet: StickyFleet;
let router: Router;
const addresses = () => fleet.addresses;

beforeAll(async () => {
  if (!installed) return;
  fleet = await startFleet();
  router = await startRouter(await readConfiguration(), fleet.addresses);
});
afterAll(async () => {
  await router?.close();
  await fleet?.close();
});

const INSTANCE = /^i[123]$/;

/** Sends a state that no server sealed. Returns the response and the instance that gave it. */
async function present(params: Record<string, unknown>) {
  const response = await fetch(
    router.url,
    requestInit('tools/call', { name: 'resolve_work_item', ...params }),
  );
  const { error } = await readPosted(response);
  return { by: response.headers.get('x-served-by') ?? '', error };
}

const ARGUMENTS = { id: 4522, state: 'Resolved' };
const REJECTED = {
  code: -32602,
  message: 'Invalid or expired requestState',
  data: { reason: 'invalid_request_state' },
};

testRouting('with the rule, every round of a call reaches the instance that holds it', async () => {
  const calls = [];
  for (const _ of addresses()) calls.push(await call(router.url));
  for (const { servedBy, text, states } of calls) {
    expect(servedBy).toEqual(Array(3).fill(servedBy[0]));
    expect(text).toBe('#4522 resolved as Duplicate of #4301.');
    expect(states[0]).toMatch(new RegExp(`^v1\\..+~${servedBy[0]}$`));
  }
  expect(new Set(calls.map(({ servedBy }) => servedBy[0]))).toEqual(new Set(['i1', 'i2', 'i3']));
});

testRouting('without the rule, a call reaches another instance, and ends with an error', async () => {
  const other = await startRouter(withoutRule(await readConfiguration()), addresses());
  try {
    const { servedBy, text, failed } = await call(other.url);
    expect({ instances: new Set(servedBy).size, failed }).toEqual({ instances: 2, failed: true });
    expect(text).toMatch(/^This call cannot be resumed here:/);
  } finally {
    await other.close();
  }
});

testRouting('the configuration has one routing rule, and withoutRule removes only that line', async () => {
  const configuration = await readConfiguration();
  const left = withoutRule(configuration).split('\n');
  expect(configuration.split('\n').filter((line) => !left.includes(line))).toEqual([
    '    use-server %[var(txn.instance)] if { var(txn.instance) -m found }',
  ]);
  expect(() => withoutRule(left.join('\n'))).toThrow('one routing rule');
});

testRouting('a label that a client makes up chooses an instance, which rejects the state', async () => {
  for (const name of ['i3', 'i1', 'i3', 'i2']) {
    const answer = await present({ arguments: ARGUMENTS, requestState: `v1.AAAA~${name}` });
    expect(answer).toEqual({ by: name, error: REJECTED });
  }
});

testRouting('a label that names no instance reaches one of the instances and no other host', async () => {
  for (const label of ['i9', '', '127.0.0.1:22', 'mcp', '%[src]', 'i1~i2 x', '\n']) {
    const answer = await present({ arguments: ARGUMENTS, requestState: `v1.AAAA~${label}` });
    expect(answer).toEqual({ by: expect.stringMatching(INSTANCE), error: REJECTED });
  }
});

testRouting(
  'state of 64 KiB behind arguments of 20 KB is routed; a request over the buffer is still served',
  async () => {
    const requestState = `v1.${'A'.repeat(65_000)}~i3`;
    for (const _ of [1, 2, 3]) {
      const routable = { arguments: { ...ARGUMENTS, note: 'x'.repeat(20_000) }, requestState };
      expect(await present(routable)).toEqual({ by: 'i3', error: REJECTED });
    }
    const tooLarge = { arguments: { ...ARGUMENTS, note: 'x'.repeat(200_000) }, requestState };
    expect(await present(tooLarge)).toEqual({ by: expect.stringMatching(INSTANCE), error: REJECTED });
  },
);
