/**
 * Vitest's global set-up: one PostgreSQL for the whole run. Vitest's process starts it when the first test file needs it,
 * and stops it after the last file. If that process is killed, the server ends with it.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, postgresServer } from './index.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address at which a worker gets the run's PostgreSQL. */
    readonly postgres: string;
  }
}

interface Offer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

// Vitest loads this module once per project, in one process.
const OFFER = Symbol.for('mrtr.postgres of the run');
const shared = globalThis as { [OFFER]?: Promise<Offer> };

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared[OFFER] ??= offerServer();
  const { url, close } = await shared[OFFER];
  project.provide('postgres', url);
  return close;
}

/** Starts the server for the first worker that needs it. Sends every worker its connection string, or its error. */
async function offerServer() {
  let starting: Promise<PostgresServer> | undefined;
  // The path is secret, because the connection string contains the password.
  const path = `/${randomBytes(16).toString('hex')}`;
  const listener = createServer(async ({ url }, response) => {
    if (url !== path) return void response.writeHead(404).end();
    starting ??= postgresServer(process.env.MRTR_TEST_POSTGRES);
    const [status, text] = await starting.then(
      (server) => [200, server.url] as const,
      (error: Error) => [503, reasonOf(error)] as const,
    );
    response.writeHead(status).end(text);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    close: async () => {
      listener.close().closeAllConnections();
      await starting?.then((server) => server.stop()).catch(() => {});
    },
  };
}

const reasonOf = ({ message, cause }: Error) => (cause instanceof Error ? cause.message : message);
