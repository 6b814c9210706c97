/** `pnpm serve`, started as a user starts it. */
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { legacyClient, modernClient } from '@mrtr/harness';
import { RunningProcess } from '@mrtr/harness/process';
import { afterAll } from 'vitest';

const RUN = fileURLToPath(new URL('../run.mjs', import.meta.url));
/** Ends the programs that tests leave running, after all tests. */
const left = new Set<() => unknown>();
afterAll(async () => {
  await Promise.all([...left].map((stop) => stop()));
});

/** Starts the program as a user does, from another folder. */
export function start(args: string, env: Record<string, string> = {}): RunningProcess {
  const program = { ...command(...args.split(' ').filter(Boolean)), env };
  const running = new RunningProcess(program, { cwd: tmpdir() });
  left.add(() => running.kill());
  return running;
}

export async function listening(args: string, env?: Record<string, string>) {
  const running = start(`${args} --http 0`, env);
  const address = await running.until(({ err }) => /^option .+, at (http:\S+)\n/m.exec(err)?.[1]);
  return { running, url: new URL(address) };
}

export const METRIC = { action: 'accept' as const, content: { units: 'metric' } };
export const TOKYO = { name: 'get_weather', arguments: { location: 'Tokyo' } };
export const SUNNY = { content: [{ type: 'text', text: 'Weather in Tokyo: 22°C, partly cloudy.' }] };

export const command = (...args: string[]) => ({ command: process.execPath, args: [RUN, 'serve', ...args] });

/** A client, and the errors that it reports, until the tests end. */
function watchErrors<C extends { onerror?: unknown; close(): Promise<void> }>(client: C) {
  const errors: Error[] = [];
  client.onerror = (error: Error) => errors.push(error);
  left.add(() => client.close());
  return Object.assign(client, { errors });
}

export const modern = async (transport: Parameters<typeof modernClient>[0]) =>
  watchErrors(await modernClient(transport, { user: () => METRIC }, { fallback: true }));

export const old = async (
  transport: Transport,
  user: () => typeof METRIC | Promise<typeof METRIC> = () => METRIC,
) => watchErrors(await legacyClient(transport, { user }));

export const PLUGGED = { cwd: tmpdir(), stderr: 'ignore' } as const;
