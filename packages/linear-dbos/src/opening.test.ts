/** Options that `DbosStore.open` refuses, without a database. */
import { requestStatePolicy } from '@mrtr/core';
import { expect, test, vi } from 'vitest';
import { resolveOptions } from './options.ts';
import { DbosStore } from './store.ts';

const policy = requestStatePolicy({ keys: ['k'.repeat(32)] });

test.each([
  [
    'a time to live of 0',
    { ttlSeconds: 0 },
    'DbosStore: ttlSeconds must be a whole number from 1 to 2147483; it is 0.',
  ],
  [
    'too few connections',
    { poolSize: 4 },
    'DbosStore: poolSize must be a whole number of at least 5; it is 4.',
  ],
  [
    'a schema that has to be quoted',
    { schema: 'a"b' },
    `DbosStore: schema must be a plain identifier; it is 'a"b'.`,
  ],
  [
    'text that is not a URL',
    { postgres: 'host=x password=p' },
    'DbosStore: postgres must be a connection string, postgres://user@host/database; it is a text.',
  ],
  [
    'another kind of database',
    { postgres: 'mysql://user@host/database' },
    'DbosStore: postgres must be a connection string, postgres://user@host/database; it is a text.',
  ],
  [
    'an empty version',
    { version: '' },
    "DbosStore: version must be a text that names the version of your handlers, for example a commit; it is ''.",
  ],
  [
    'a version from an unset environment variable',
    { version: undefined as never },
    'DbosStore: version must be a text that names the version of your handlers, for example a commit; it is undefined.',
  ],
  [
    'no address of a database',
    { postgres: undefined as never },
    'DbosStore: postgres must be a connection string, postgres://user@host/database; it is undefined.',
  ],
  [
    'a name that does not exist',
    { schemas: 'a' },
    "DbosStore: there is no option 'schemas'. Did you mean 'schema'?",
  ],
  [
    'a schema that is no text',
    { schema: 5 as never },
    'DbosStore: schema must be a plain identifier; it is 5.',
  ],
  [
    'an onerror that is no function',
    { onerror: true as never },
    'DbosStore: onerror must be a function; it is true.',
  ],
  [
    'the options of a policy instead of one',
    { policy: { keys: ['k'.repeat(32)] } as never },
    'DbosStore: policy must be made by requestStatePolicy; it is an object.',
  ],
  [
    'a policy without keys',
    { policy: requestStatePolicy() },
    'DbosStore: the policy has a random key of this process, so no other process could open the stored calls. Give ' +
      'requestStatePolicy the same `keys` on every instance.',
  ],
])('refuses %s', async (_what, options, message) => {
  const good = { postgres: 'postgres://mrtr:secret@127.0.0.1:1/none', policy, version: '1' };
  await expect(DbosStore.open({ ...good, ...options })).rejects.toMatchObject({
    code: 'invalid_option',
    message,
  });
});

test('an option that is undefined has its default', () => {
  const options = { postgres: 'postgres://mrtr@127.0.0.1:1/none', policy, version: '1' };
  const undefinedOnes = { schema: undefined, ttlSeconds: undefined, onerror: undefined } as object;
  const resolved = resolveOptions({ ...options, ...undefinedOnes });
  expect(resolved).toMatchObject({ schema: 'mrtr_linear', ttlSeconds: 600 });
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  resolved.onerror(new Error('The session was lost.'));
  expect(emitted).toHaveBeenCalledWith(expect.stringMatching(/^The session was lost\./), {
    code: 'MRTR_ERROR',
  });
  emitted.mockRestore();
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
