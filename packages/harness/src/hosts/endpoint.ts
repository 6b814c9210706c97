/** Where a client connects to a running server. */
import { inspect } from 'node:util';
import type { McpServer } from '@modelcontextprotocol/server';
import type { Program } from '../processes/program.ts';
import type { Era } from '../transcript/call.ts';

/** An HTTP address (with a `fetch` of its own where there is no socket), a server in memory, or a program on stdio. */
export type Endpoint =
  | {
      readonly kind: 'http';
      readonly url: URL;
      readonly fetch?: Fetch;
      /** Sent with each request. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  | { readonly kind: 'memory'; readonly server: McpServer }
  | ({ readonly kind: 'stdio' } & Program & ProgramOptions);

interface ProgramOptions {
  /** Called with what the program writes to stderr. */
  readonly onStderr?: ((text: string) => void) | undefined;
  /**
   * Starts the program once. By default a modern client starts it once more before, to see whether it speaks
   * 2026-07-28: an old server may end at a message before `initialize`.
   */
  readonly startOnce?: boolean;
}

/** `fetch`, as the clients' transports call it. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A running server: one instance, or several of them behind one address. */
export interface Hosting {
  /** The instances' ids, as the transcript names them. */
  readonly instances: readonly string[];
  /** Where a client of this era connects. Each connection asks anew. */
  readonly endpoint: (era: Era) => Endpoint;
  /** Handlers that all instances together hold parked in memory now. Resolves after everything that they published. */
  readonly framesHeld: () => number | Promise<number>;
  close(): Promise<void>;
}

export const NO_SOCKET = new URL('http://mrtr.invalid/mcp');

/**
 * The hosting of a server that runs already, or that starts with its client's connection and ends with it.
 *
 * @example
 * await converse(request, () => foreignHosting('http://localhost:3000/mcp'));
 * @throws Error for anything else than the server's address, or an endpoint.
 */
export function foreignHosting(server: string | URL | Endpoint): Hosting {
  const endpoint = endpointOf(server);
  return { instances: ['server'], endpoint: () => endpoint, framesHeld: () => 0, close: async () => {} };
}

function endpointOf(server: string | URL | Endpoint): Endpoint {
  if (server instanceof URL) return { kind: 'http', url: server };
  if (typeof server === 'string' && URL.canParse(server)) return { kind: 'http', url: new URL(server) };
  const kind: unknown = (server as Endpoint | undefined)?.kind;
  if (typeof kind === 'string' && KINDS.includes(kind)) return server as Endpoint;
  throw new Error(
    `foreignHosting: server must be an address, such as 'http://localhost:3000/mcp', or an Endpoint with a kind of ${KINDS.join(', ')}; it is ${inspect(server, { depth: 0 })}.`,
  );
}

const KINDS = ['http', 'memory', 'stdio'];
