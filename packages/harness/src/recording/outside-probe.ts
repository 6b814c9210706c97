/** Probes outside a server: a value that shows its effects, at an address or printed by a command. */
import type { SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { limitBody } from '../hosts/limit-body.ts';
import { grouped, killGroup, startChild } from '../processes/child.ts';

/** Reads the value until `signal` aborts. A command runs in the folder `cwd`. @throws Error */
export async function readOutside(
  kind: 'url' | 'cmd',
  what: string,
  { signal, cwd }: { readonly signal: AbortSignal; readonly cwd?: string },
): Promise<string> {
  try {
    return (await (kind === 'cmd' ? print(what, signal, cwd) : get(what, signal))).trim();
  } catch (error) {
    throw new Error(`the probe could not be read: ${(error as Error).message}`);
  }
}

/** Runs a command in a process group, so that what its shell starts ends with it. */
async function print(command: string, signal: AbortSignal, cwd?: string) {
  signal.throwIfAborted();
  const options: SpawnOptions = { cwd, shell: true, detached: grouped, stdio: ['ignore', 'pipe', 'pipe'] };
  const child = startChild(command, [], options, () => killGroup(child));
  const over = once(signal, 'abort').then(() => Promise.reject(signal.reason));
  const [written, complaints] = [child.stdout, child.stderr].map((pipe) =>
    limitBody(new Response(Readable.toWeb(pipe as Readable) as ReadableStream<Uint8Array>)).text(),
  );
  try {
    const ended = Promise.all([once(child, 'exit'), written, complaints]);
    const [[code], out = '', why = ''] = await Promise.race([ended, over]);
    if (code !== 0) throw new Error(`Command failed: ${command}\n${reasonIn(why)}`.trim());
    return out;
  } finally {
    killGroup(child);
    for (const pipe of child.stdio) pipe?.destroy();
  }
}

/** The reason in the output of a failed program. Node writes its stack after the reason, and Python before it. */
function reasonIn(stderr: string) {
  const [head = ''] = stderr.split(/^ +at /m);
  return head
    .split('\n')
    .filter((line) => line.trim())
    .slice(-3)
    .join('\n');
}

async function get(url: string, signal: AbortSignal) {
  const response = await fetch(url, { signal, redirect: 'manual' });
  const { status } = response;
  // Follow no redirect: it may lead to a service that only this machine can reach.
  if (status >= 300 && status < 400) throw new Error(`HTTP ${status}, a redirect, which is not followed`);
  if (!response.ok) throw new Error(`HTTP ${status}`);
  return limitBody(response).text();
}
