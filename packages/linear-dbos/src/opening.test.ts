/** Options that `DbosStore.open` rejects before it connects. */
import { MemoryLedger, requestStatePolicy } from '@mrtr/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { resolveOptions } from './options.ts';
import { DbosStore } from './store.ts';

const policy = requestStatePolicy({ keys: ['k'.repeat(32)] });

const aUrl = 'postgres must be a connection string, postgres://user@host/database; it is';
const aVersion =
  'version must be a text that names the version of your handlers, for example a commit; it is';

test.each<[options: object, message: string]>([
  [{ ttlSeconds: 0 }, 'ttlSeconds must be a whole number from 1 to 2147483; it is 0.'],
  [{ poolSize: 4 }, 'poolSize must be a whole number of at least 5; it is 4.'],
  [{ schema: 'a"b' }, `schema must be an identifier that needs no quotes (a-z, 0-9, _); it is 'a"b'.`],
  [{ maxOpenCalls: 5 }, "the option 'maxOpenCalls' is gone. Write `limits: { calls }`."],
  [{ takeOverSeconds: 2 }, "the option 'takeOverSeconds' is gone. It is fixed: 10 seconds."],
  [{ schemas: 'a' }, "there is no option 'schemas'. Did you mean 'schema'?"],
  [{ postgres: 'host=x password=p' }, `${aUrl} a text.`],
  [{ postgres: 'mysql://user@host/database' }, `${aUrl} a text.`],
  [{ postgres: undefined }, `${aUrl} undefined.`],
  [{ version: '' }, `${aVersion} ''.`],
  [{ version: undefined }, `${aVersion} undefined.`],
  [{ onerror: true }, 'onerror must be a function; it is true.'],
  [{ policy: { keys: ['k'.repeat(32)] } }, 'policy must be made by requestStatePolicy; it is an object.'],
  [
    { policy: requestStatePolicy() },
    'the policy has a random key of this process, so no other process could open the stored calls. Give ' +
      'requestStatePolicy the same `keys` on every instance.',
  ],
])('%j is rejected: %s', async (options, message) => {
  const good = { postgres: 'postgres://mrtr:secret@127.0.0.1:1/none', policy, version: '1' };
  await expect(DbosStore.open({ ...good, ...options })).rejects.toMatchObject({
    code: 'invalid_option',
    message: `DbosStore: ${message}`,
  });
});

test('an option that is undefined has its default', () => {
  const options = { postgres: 'postgres://mrtr@127.0.0.1:1/none', policy, version: '1' };
  const undefinedOnes = { schema: undefined, ttlSeconds: undefined, onerror: undefined } as object;
  const resolved = resolveOptions({ ...options, ...undefinedOnes });
  const limits = { calls: 10_000, bytes: 67_108_864, perPrincipal: 1 / 32 };
  expect(resolved).toMatchObject({ schema: 'mrtr_linear', ttlSeconds: 600, limits });
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  Reflect.deleteProperty(globalThis, Symbol.for('mrtr.kinds-of-error'));
  resolved.onerror(new Error('The session was lost.'));
  expect(emitted).toHaveBeenCalledWith(expect.stringMatching(/^The session was lost\./), {
    code: 'MRTR_ERROR',
  });
  emitted.mockRestore();
});

test('without its own `onerror`, a store reports to the policy’s', () => {
  const errors: string[] = [];
  const telling = requestStatePolicy({
    keys: ['k'.repeat(32)],
    onerror: ({ message }) => errors.push(message),
  });
  const resolved = resolveOptions({
    postgres: 'postgres://mrtr@127.0.0.1:1/none',
    policy: telling,
    version: '1',
  });
  resolved.onerror(new Error('The session was lost.'));
  expect(errors).toEqual(['The session was lost.']);
});

test('an unreachable database is an error without the password, and opening can be tried again', async () => {
  const postgres = 'postgres://mrtr:secret-password@127.0.0.1:1/none';
  for (let attempt = 0; attempt < 2; attempt++) {
    const error: Error = await DbosStore.open({ postgres, policy, version: '1' }).then(
      () => new Error('It opened.'),
      (error: Error) => error,
    );
    expect(error.message).toContain('ECONNREFUSED');
    expect(JSON.stringify([error.message, error.stack, error])).not.toContain('secret-password');
  }
});

test('no policy brings a warning: the store serves each token once, and other tools keep their single use', () => {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emitted.mockRestore());
  Reflect.deleteProperty(globalThis, Symbol.for('mrtr.warned'));
  const keys = ['k'.repeat(32)];
  const options = { postgres: 'postgres://mrtr@localhost/calls', version: '1' };
  for (const singleUse of [{ singleUse: false }, { ledger: new MemoryLedger() }] as const)
    resolveOptions({ ...options, policy: requestStatePolicy({ keys, ...singleUse }) });
  expect(emitted.mock.calls).toEqual([]);
});
