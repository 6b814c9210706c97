import { expect, test } from 'vitest';
import { asking, beginCall, PLAN, REJECTED, YES } from '../admission/asking.test-support.ts';
import { hostTools } from '../admission/hosted.test-support.ts';
import { MemoryLedger } from '../admission/ledger.ts';
import { type RequestStateOptions, requestStatePolicy } from '../admission/policy.ts';
import { InvalidOption } from '../errors.ts';

const DONE = { result: expect.objectContaining({ content: [{ type: 'text', text: 'Done.' }] }) };
const OTHER_VERSION = ['RequestStateRejected: requestState rejected: wrong_version (other_version)'];

/** A call that begins on a server of `before` and goes on on one of `after`. */
async function across(before: RequestStateOptions, after: RequestStateOptions) {
  const entries: (string | undefined)[] = [];
  const started = await beginCall(hostTools(asking(), before));
  const { post, errors } = hostTools(asking(entries), after);
  return { entries, errors, came: await post('tools/call', { ...started, inputResponses: YES }) };
}

test.each<[string, RequestStateOptions, RequestStateOptions]>([
  ['no version', {}, {}],
  ['the same version', { version: '1' }, { version: '1' }],
  ['a version that is accepted', { version: '1' }, { version: '2', acceptVersions: ['0', '1'] }],
  ['no version, where that is accepted', {}, { version: '1', acceptVersions: [null] }],
  ['a version, for one who has none', { version: '1' }, { acceptVersions: ['1'] }],
  ['the same version of its tool', { version: { deploy: '1' } }, { version: { deploy: '1', destroy: '2' } }],
])('state of %s is accepted', async (_, before, after) => {
  const { came, entries } = await across(before, after);
  expect(came).toEqual(DONE);
  expect(entries).toEqual([PLAN]);
});

test.each<[string, RequestStateOptions, RequestStateOptions]>([
  ['an older version', { version: '1' }, { version: '2' }],
  ['a newer version, at an instance that was not replaced yet', { version: '2' }, { version: '1' }],
  ['no version, where others are accepted', {}, { version: '3', acceptVersions: ['1', '2'] }],
  ['another version of its tool', { version: { deploy: '1' } }, { version: { deploy: '2' } }],
  ['a version that the tool had', { version: { deploy: '1' } }, { version: { constructor: '1' } }],
])('state of %s is rejected before the handler, and the operator learns why', async (_, before, after) => {
  const { came, entries, errors } = await across(before, after);
  expect(came).toEqual(REJECTED);
  expect(entries).toEqual([]);
  expect(errors).toEqual(OTHER_VERSION);
});

test('state that is rejected for its version stays good for an instance that accepts it', async () => {
  const ledger = new MemoryLedger();
  const started = await beginCall(hostTools(asking(), { version: '1', ledger }));
  const retry = { ...started, inputResponses: YES };
  expect(await hostTools(asking(), { version: '2', ledger }).post('tools/call', retry)).toEqual(REJECTED);
  expect(await hostTools(asking(), { version: '1', ledger }).post('tools/call', retry)).toEqual(DONE);
});

test('state of exactly the limit is accepted, and its version counts', async () => {
  const { requestState } = await beginCall(hostTools(asking()));
  const limits = { stateBytes: requestState.length };
  expect(await across({ limits }, { limits })).toMatchObject({ came: DONE });
  expect((await beginCall(hostTools(asking(), { limits, version: 'long' }))).requestState).toBeUndefined();
});

test.each<[string, RequestStateOptions]>([
  ['version must be text of 1 to 255 bytes', { version: '' }],
  ['version must be text of 1 to 255 bytes', { version: 'ä'.repeat(128) }],
  ['version must be text of 1 to 255 bytes', { version: '\ud800' }],
  ['version.deploy must be text of 1 to 255 bytes', { version: { deploy: '' } }],
  ['acceptVersions[1] must be text of 1 to 255 bytes; it is undefined', { acceptVersions: ['1', undefined] }],
])('a policy says that its %s', (message, options) => {
  expect(() => requestStatePolicy(options)).toThrow(InvalidOption);
  expect(() => requestStatePolicy(options)).toThrow(message);
});
