/** HAProxy and nginx with our configurations, in front of instances. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, RunningProcess } from '@mrtr/harness/process';

// Debian installs it in a folder that is not on an ordinary user's PATH.
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`;
const PROGRAM = process.env.HAPROXY || 'haproxy';

export const isInstalled = (): boolean =>
  spawnSync(PROGRAM, ['-v'], { env: { ...process.env, PATH } }).status === 0;

export const readConfiguration = (): Promise<string> =>
  readFile(new URL('../../docs/haproxy.cfg', import.meta.url), 'utf8');

export function withoutRule(configuration: string): string {
  const lines = configuration.split('\n');
  const left = lines.filter((line) => !/^\s*use-server\s/.test(line));
  if (left.length !== lines.length - 1) throw new Error('The configuration has to have one routing rule.');
  return left.join('\n');
}

export interface Router {
  readonly url: URL;
  close(): Promise<void>;
}

interface Program {
  readonly command: string;
  readonly args: (folder: string) => readonly string[];
  /** Its files, by their names in its folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

const ATTEMPTS = 3;

export const startRouter = (
  configuration: string,
  [i1 = '', i2 = '', i3 = '']: readonly string[],
): Promise<Router> =>
  start((bind) => ({
    command: PROGRAM,
    args: (folder) => ['-db', '-f', join(folder, 'haproxy.cfg')],
    files: { 'haproxy.cfg': configuration },
    env: { MCP_BIND: bind, MCP_I1: i1, MCP_I2: i2, MCP_I3: i3 },
  }));

/** nginx with our configuration, in front of two instances on this machine, as `host:port`. */
export async function startNginx([first = '', second = '']: readonly string[]): Promise<Router> {
  const text = await readFile(new URL('../../docs/nginx.conf', import.meta.url), 'utf8');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path t;`,
  );
  return start((bind) => ({
    command: 'nginx',
    args: (folder) => ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'],
    files: {
      'nginx.conf': `daemon off; pid pid; events {} http { access_log off; ${temporary.join(' ')} include mcp.conf; }`,
      'mcp.conf': text
        .replaceAll(':8081', first.slice(first.indexOf(':')))
        .replaceAll(':8082', second.slice(second.indexOf(':')))
        .replace('127.0.0.1:8080', bind),
    },
  }));
}

async function start(program: (bind: string) => Program): Promise<Router> {
  for (let attempt = 1; ; attempt++) {
    const bind = `127.0.0.1:${await freePort()}`;
    try {
      return await tryStart(program(bind), bind);
    } catch (error) {
      // Another program may take the free port first.
      const taken = error instanceof Error && /cannot bind|address already in use/i.test(error.message);
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}

async function tryStart({ command, args, files, env }: Program, bind: string): Promise<Router> {
  const folder = await mkdtemp(join(tmpdir(), 'mrtr-sticky-'));
  // nginx gives up root.
  await chmod(folder, 0o755);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const running = new RunningProcess({ command, args: args(folder), env: { ...env, PATH } });
  const leave = () => rmSync(folder, { recursive: true });
  process.once('exit', leave);
  const close = async () => {
    await running.stop();
    process.off('exit', leave);
    await rm(folder, { recursive: true });
  };
  try {
    await running.whileAlive(waitUntilHealthy(new URL(`http://${bind}/healthz`), running));
    return { url: new URL(`http://${bind}/mcp`), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function waitUntilHealthy(health: URL, running: RunningProcess): Promise<void> {
  while (running.alive) {
    const response = await fetch(health, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    await pause(20);
  }
}
