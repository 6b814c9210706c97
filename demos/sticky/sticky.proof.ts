/** The instances behind the router, with the configuration in the repository. */
import { readPosted, requestInit } from '@mrtr/harness';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fleet, startFleet } from './fleet.ts';
import { haproxyVersion, type Router, readConfiguration, startRouter } from './haproxy.ts';
import { sticky } from './sticky.ts';

const installed = haproxyVersion() !== undefined;
const WHY = installed ? '' : ' (SKIPPED: haproxy is not installed here; apt-get install haproxy)';
const testRouting = (name: string, body: () => Promise<void>) =>
  test.skipIf(!installed)(`${name}${WHY}`, body);

let fleet: Fleet;
let router: Router;

beforeAll(async () => {
  if (!installed) return;
  fleet = await startFleet();
  router = await startRouter(await readConfiguration(), fleet);
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

testRouting(
  '`pnpm demo sticky` shows calls that finish with the rule, and one that does not without it',
  async () => {
    let out = '';
    let err = '';
    const code = await sticky({
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [rule, none] = out.split('\n without it');
    const stayed = rule?.match(/call \d {3}round 1 → (i\d) {3}round 2 → \1 {3}round 3 → \1\n/g) ?? [];
    expect(new Set(stayed.map((line) => /i\d/.exec(line)?.[0]))).toEqual(new Set(['i1', 'i2', 'i3']));
    expect(rule?.match(/#4522 resolved as Duplicate of #4301\./g)).toHaveLength(3);
    expect(rule).toMatch(/echoed: v1\..{10}…~i\d\n/);
    expect(none).toMatch(
      /call 1 {3}round 1 → (i\d) {3}round 2 → (?!\1)i\d\n +✗ This call cannot be resumed here:/,
    );
    for (const line of out.split('\n')) expect([...line].length).toBeLessThanOrEqual(80);
  },
);

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
