/** A client's target: a program that it starts, or an address. Each can be tapped. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Program } from '@mrtr/harness/process';
import { freePort, RunningProcess } from '@mrtr/harness/process';
import { tapHttp } from './tap-http.ts';
import { type Line, type Wire, wireOf } from './wire.ts';

export type Target = Program | { readonly url: string };

export type Transport = 'stdio' | 'HTTP';

/** A target whose messages are recorded. */
export interface Tapped {
  readonly target: Target;
  wire(): Promise<Wire>;
  close(): Promise<void>;
}

const TAP = fileURLToPath(new URL('tap-stdio.mjs', import.meta.url));

/** Puts a tap in front of a target. Logs of programs go to `folder`. */
export async function tapped(target: Target, folder: string): Promise<Tapped> {
  if ('url' in target) {
    const lines: Line[] = [];
    const tap = await tapHttp(target.url, (line) => lines.push(line));
    return { target: { url: tap.url }, wire: async () => wireOf(lines), close: tap.close };
  }
  const log = join(folder, `${randomUUID()}.log`);
  const { command, args, ...env } = target;
  return {
    target: { command: process.execPath, args: [TAP, log, command, ...args], ...env },
    wire: async () => {
      const noted = await readFile(log, 'utf8').catch(() => '');
      return wireOf(
        noted
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      );
    },
    close: async () => {},
  };
}

export interface Listening {
  readonly target: { readonly url: string };
  close(): Promise<void>;
}

/** Runs a program on a free port, and waits until it listens. */
export async function listening(program: (port: number) => Program): Promise<Listening> {
  const port = await freePort();
  const running = new RunningProcess(program(port));
  const url = `http://127.0.0.1:${port}/mcp`;
  await running.whileAlive(answered(url));
  // Some programs do not end on a signal.
  return { target: { url }, close: () => running.kill() };
}

async function answered(url: string): Promise<void> {
  for (;;) {
    const up = await fetch(url, { headers: { connection: 'close' } }).then(
      async (response) => {
        await response.body?.cancel();
        return true;
      },
      () => false,
    );
    if (up) return;
    await setTimeout(100);
  }
}

/** The tested options: one keeps nothing between rounds, the other's handler waits in memory. */
export const TRIED = ['E', 'H'] as const;

export type Legacy = 'shim' | 'degrade';

const RUN = fileURLToPath(new URL('../../tools/cli/run.mjs', import.meta.url));

/** Our options, served like `pnpm serve`: each once over HTTP, and over stdio whenever a client starts it. */
export class Options {
  readonly #listening = new Map<string, Promise<Listening>>();

  async target(
    option: (typeof TRIED)[number],
    transport: Transport,
    legacy: Legacy = 'shim',
  ): Promise<Target> {
    const program = (...more: readonly string[]) => ({
      command: process.execPath,
      args: [RUN, 'serve', `option-${option.toLowerCase()}`, '--legacy', legacy, ...more],
    });
    if (transport === 'stdio') return program();
    const key = `${option} ${legacy}`;
    const started = this.#listening.get(key) ?? listening((port) => program('--http', String(port)));
    this.#listening.set(key, started);
    return (await started).target;
  }

  async close(): Promise<void> {
    for (const started of this.#listening.values()) await (await started).close();
  }
}
