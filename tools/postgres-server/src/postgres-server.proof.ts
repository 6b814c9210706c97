/** The server ends with the process that started it, even if that is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { query } from './index.ts';

const GONE = { timeout: 60_000 };
const expectRefusal = (url: string) =>
  vi.waitFor(() => expect(query(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' }), GONE);

/** Starts a process that starts a server and prints its database. Its folders are in `temporary`. */
function starter(temporary: string) {
  const program = `
    const { postgresServer } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
    const server = await postgresServer();
    console.log(await server.database());`;
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return spawn(process.execPath, ['--import', tsx, '--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...process.env, TMPDIR: temporary },
  });
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-test-'));
  // PostgreSQL's user needs access.
  await chmod(folder, 0o755);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const ours = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('mrtr-postgres-'));

test('a server ends when the process that started it is killed, and leaves no folder', async () => {
  const folder = await temporaryFolder();
  const child = starter(folder);
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
  const url = String(said).trim();
  expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  child.kill('SIGKILL');
  await expectRefusal(url);
  await vi.waitFor(() => expect(ours(folder)).toEqual([]), GONE);
});

test.each(['', 'data'])(
  'killed while it starts (at /%s), the process leaves no folder either',
  async (part) => {
    const folder = await temporaryFolder();
    const child = starter(folder);
    await vi.waitFor(() => expect(existsSync(join(folder, ours(folder)[0] ?? 'none', part))).toBe(true), {
      ...GONE,
      interval: 5,
    });
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(ours(folder)).toEqual([]), GONE);
  },
);
