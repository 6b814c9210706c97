/** docs/clients.md is what docs/clients.json says, and each fact there has its source. */
import { CLIENT_BEHAVIOURS } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import { clients, updateClients, withForm } from './clients-document.ts';

test('the tables of docs/clients.md are up to date; `pnpm interop --read` brings them up to date', async () => {
  expect(await updateClients(false)).toEqual([]);
});

test('each client has a version or a date, a repository, and files or threads', () => {
  expect(clients).toHaveLength(43);
  expect(new Set(clients.map(({ client }) => client)).size).toBe(43);
  const lacking = clients.filter(
    ({ at, date, from, sources }) =>
      !(at ?? date) || !/^https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(from) || sources.length === 0,
  );
  expect(lacking).toEqual([]);
});

test('each simulated client does what a client with a form was read to do', () => {
  expect(withForm).toHaveLength(14);
  const done = new Set(withForm.flatMap(({ does = [] }) => does));
  expect(CLIENT_BEHAVIOURS.filter((behaviour) => !done.has(behaviour))).toEqual([]);
});
