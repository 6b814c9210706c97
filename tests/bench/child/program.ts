/** Runs programs of this package in their own processes. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// Only tests run a program from its TypeScript.
const FROM_SOURCE = import.meta.url.endsWith('.ts');
const LOADER = FROM_SOURCE ? ['--import', 'tsx'] : [];

const pathOf = (name: string): string =>
  fileURLToPath(new URL(`./${name}${FROM_SOURCE ? '.ts' : '.js'}`, import.meta.url));

/** Variables for a program: values that other users of the machine must not read in its arguments. */
type Env = Readonly<Record<string, string>>;

/** Runs a program to its end and reads the JSON that it prints. */
export async function report<T>(
  name: string,
  args: readonly string[],
  flags: readonly string[] = [],
  env: Env = {},
): Promise<T> {
  const command = [...LOADER, ...flags, pathOf(name), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    maxBuffer: 2 ** 26,
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout) as T;
}

/** Starts a program that exchanges messages. */
export const start = (
  name: string,
  args: readonly string[],
  flags: readonly string[] = [],
  env: Env = {},
): ChildProcess =>
  spawn(process.execPath, [...LOADER, ...flags, pathOf(name), ...args], {
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });

/** Sends a message over the child's channel and waits for the next one. */
export async function ask<T>(child: ChildProcess, message: string | object): Promise<T> {
  const answered = once(child, 'message');
  child.send(message);
  return (await answered)[0] as T;
}
