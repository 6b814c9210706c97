/** What `DbosStore.open` refuses. No database is needed for that. */
import { requestStatePolicy } from '@mrtr/core';
import { expect, test } from 'vitest';
import { DbosStore } from './store.ts';

const policy = requestStatePolicy({ keys: ['k'.repeat(32)] });

test.each([
  [
    'a time of nothing',
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
    'what is no URL',
    { postgres: 'host=x password=p' },
    'DbosStore: postgres must be a connection string, postgres://user@host/database.',
  ],
  [
    'another kind of database',
    { postgres: 'mysql://user@host/database' },
    'DbosStore: postgres must be a connection string, postgres://user@host/database.',
  ],
  [
    'a version of nothing',
    { version: '' },
    'DbosStore: version must be text that names the code of the handlers, and differs where they do: a commit, say.',
  ],
  [
    'a policy without keys',
    { policy: requestStatePolicy() },
    'DbosStore: the policy has a random key of this process, and no other one could open what is stored. Give ' +
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
