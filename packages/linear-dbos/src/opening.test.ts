/** Options that `DbosStore.open` refuses, without a database. */
import { requestStatePolicy } from '@mrtr/core';
import { expect, test } from 'vitest';
import { DbosStore } from './store.ts';

const policy = requestStatePolicy({ keys: ['k'.repeat(32)] });

test.each([
  [
    'a time to live of 0',
    { ttlSeconds: 0 },
    'DbosStore: ttlSeconds must be a whole number of at least 1; it is 0.',
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
    'DbosStore: postgres must be a connection string, postgres://user@host/database.',
  ],
  [
    'another kind of database',
    { postgres: 'mysql://user@host/database' },
    'DbosStore: postgres must be a connection string, postgres://user@host/database.',
  ],
  [
    'an empty version',
    { version: '' },
    'DbosStore: version must be a text that names the version of your handlers, for example a commit.',
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
    code: 'invalid_policy',
    message,
  });
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
