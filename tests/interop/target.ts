/** Where a client connects: a program that it starts, or an address. Each can be tapped. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Program } from '@mrtr/harness';
import { freePort, RunningProcess } from '@mrtr/harness/process';
import { tapHttp } from './tap-http.ts';
import { Wire } from './wire.ts';

export type Target = Program | { readonly url: string };

export type Transport = 'stdio' | 'HTTP';

/** A target, with everything noted that goes in or comes out. */
export interface Tapped {
  readonly target: Target;
  wire(): Promise<Wire>;
  close(): Promise<void>;
}

const TAP = fileURLToPath(new URL('tap-stdio.mjs', import.meta.url));

/** Puts a tap before a target. Logs of programs go to `folder`. */
export async function tapped(target: Target, folder: string): Promise<Tapped> {
  if ('url' in target) {
    const wire = new Wire();
    const tap = await tapHttp(target.url, wire);
    return { target: { url: tap.url }, wire: async () => wire, close: tap.close };
  }
  const log = join(folder, `${randomUUID()}.log`);
  const { command, args, ...env } = target;
  return {
    target: { command: process.execPath, args: [TAP, log, command, ...args], ...env },
    wire: () => Wire.fromLog(log),
    close: async () => {},
  };
}

export interface Listening {
  readonly target: { readonly url: string };
  close(): Promise<void>;
}

/** Runs a program that listens on the port it is given, and waits until it does. */
export async function listening(program: (port: number) => Program, path = '/mcp'): Promise<Listening> {
  const port = await freePort();
  const running = new RunningProcess(program(port));
  const url = `http://127.0.0.1:${port}${path}`;
  await running.whileAlive(answered(url));
  // Some of them do not end when they are asked to.
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
