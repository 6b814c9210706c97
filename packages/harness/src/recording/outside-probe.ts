/** Probes outside a server: a value that shows its effects, at an address or printed by a command. */
import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { limitBody, MAX_BYTES } from '../hosts/limit-body.ts';

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

async function print(command: string, signal: AbortSignal, cwd?: string) {
  const limits = { signal, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES } as const;
  return (await promisify(exec)(command, { ...limits, cwd })).stdout;
}

async function get(url: string, signal: AbortSignal) {
  const response = await fetch(url, { signal, redirect: 'manual' });
  const { status } = response;
  // Follow no redirect: it may lead to a service that only this machine can reach.
  if (status >= 300 && status < 400) throw new Error(`HTTP ${status}, a redirect, which is not followed`);
  if (!response.ok) throw new Error(`HTTP ${status}`);
  return limitBody(response).text();
}
