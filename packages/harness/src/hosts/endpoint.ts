/** Endpoints of running servers. */
import { inspect } from 'node:util';
import type { McpServer } from '@modelcontextprotocol/server';
import { rejectGoneOptions } from '../gone-options.ts';
import type { Program } from '../processes/process.ts';
import type { Era } from '../transcript/call.ts';

/** An HTTP address (with its own `fetch` if there is no socket), a server in memory, or a program on stdio. */
export type Endpoint =
  | {
      readonly kind: 'http';
      readonly url: URL;
      readonly fetch?: Fetch;
      /** Sent with each request. */
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  | { readonly kind: 'memory'; readonly server: McpServer }
  | (Program & {
      readonly kind: 'stdio';
      /** Called with the program's stderr. */
      readonly onStderr?: ((text: string) => void) | undefined;
    });

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A running server: one or more instances behind one address. */
export interface Hosting {
  /** The instances' ids in the transcript. */
  readonly instances: readonly string[];
  /** The endpoint for a client of this era. Called for each connection. */
  readonly endpoint: (era: Era) => Endpoint;
  /** How many handlers all instances have parked in memory. Resolves after everything that they have published. */
  readonly framesHeld: () => number | Promise<number>;
  close(): Promise<void>;
}

export const NO_SOCKET = new URL('http://mrtr.invalid/mcp');

/**
 * The hosting of a server that runs already, or that starts and ends with its client's connection.
 *
 * @example
 * await converse(request, () => foreignHosting('http://localhost:3000/mcp'));
 * @throws Error for a value that is neither an address nor an endpoint.
 */
export function foreignHosting(server: string | URL | Endpoint): Hosting {
  const endpoint = endpointOf(server);
  return { instances: ['server'], endpoint: () => endpoint, framesHeld: () => 0, close: async () => {} };
}

function endpointOf(server: string | URL | Endpoint): Endpoint {
  if (server instanceof URL) return { kind: 'http', url: server };
  if (typeof server === 'string' && URL.canParse(server)) return { kind: 'http', url: new URL(server) };
  const kind: unknown = (server as Endpoint | undefined)?.kind;
  if (typeof kind === 'string' && KINDS.includes(kind)) {
    rejectGoneOptions(server as Endpoint);
    return server as Endpoint;
  }
  throw new Error(
    `foreignHosting: server must be an address, such as 'http://localhost:3000/mcp', or an Endpoint with a kind of ${KINDS.join(', ')}; it is ${inspect(server, { depth: 0 })}.`,
  );
}

const KINDS = ['http', 'memory', 'stdio'];
