import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { postgresServer, query } from './index.ts';

const GONE = { timeout: 20_000 };
const refused = (url: string) =>
  vi.waitFor(() => expect(query(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' }), GONE);

test('a server that is started has databases of their own, takes nobody without its password, and stops', async () => {
  const server = await postgresServer();
  const url = await server.database();
  await query(url, 'CREATE TABLE kept (what text)');
  await query(url, 'INSERT INTO kept VALUES ($1)', ['this']);
  expect(await query(await server.database(url), 'SELECT what FROM kept')).toEqual([{ what: 'this' }]);
  const stranger = Object.assign(new URL(url), { password: 'guessed' });
  await expect(query(stranger.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
  await server.stop();
  await refused(url);
}, 60_000);

test('it ends with the process that started it, also where that is killed', async () => {
  const program = `
    const { postgresServer } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
    const server = await postgresServer();
    console.log(await server.database());`;
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const args = ['--import', tsx, '--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { cwd: fileURLToPath(new URL('..', import.meta.url)) });
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
  const url = String(said).trim();
  expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  child.kill('SIGKILL');
  await refused(url);
}, 60_000);

test('one that is named is used as it is, and stays', async () => {
  const own = await postgresServer();
  const named = await postgresServer(await own.database());
  const url = await named.database();
  await named.stop();
  expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await own.stop();
}, 60_000);
