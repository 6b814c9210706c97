import { type AuthInfo, createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { InProcess, type Posted } from '@mrtr/harness';
import { type RequestOptions, readPosted, requestInit } from '@mrtr/harness/internal';
import { onTestFinished } from 'vitest';
import { type Events, observe } from '../diagnostics/events.ts';
import { withoutCall } from '../diagnostics/log-line.ts';
import {
  type FIXED_LIMITS,
  type RequestStateOptions,
  requestStatePolicy,
  withFixedLimits,
} from './policy.ts';
import { protectedServer } from './protected-server.ts';

/** The response to one JSON-RPC request. */
export type Reply = Pick<Posted, 'result' | 'error'>;

export interface PostOptions extends RequestOptions {
  readonly authInfo?: AuthInfo;
  /** Fires when the client hangs up. */
  readonly signal?: AbortSignal;
}

/** A policy's options, and other values for the limits that are fixed. */
export interface TestOptions extends RequestStateOptions {
  readonly fixed?: Partial<typeof FIXED_LIMITS>;
}

export interface Hosted {
  /** The errors that the server's `onerror` received, as text. */
  readonly errors: readonly string[];
  /** A new server, for one connection. */
  readonly server: () => McpServer;
  /** Sends one request without a client, so that tests can send anything. */
  readonly post: (method: string, params: Record<string, unknown>, options?: PostOptions) => Promise<Reply>;
  /** Like `post`, with the whole HTTP response. */
  readonly send: (
    method: string,
    params: Record<string, unknown>,
    options?: PostOptions,
  ) => Promise<Response>;
}

/**
 * Hosts servers that `register` fills, a new one for each request. By default they have a key, and their state is
 * single-use only with a `ledger`.
 */
export function hostTools(
  register: (server: McpServer) => void,
  { fixed = {}, ...options }: TestOptions = {},
  name = 'test-server',
): Hosted {
  const singleUse = options.ledger ? undefined : false;
  const policy = withFixedLimits(
    requestStatePolicy({ keys: ['k'.repeat(32)], singleUse, ...options }),
    fixed,
  );
  return hostServers((errors) => {
    const server = protectedServer({ name, version: '1.0.0' }, policy);
    server.server.onerror = (error) => errors.push(withoutCall(String(error)));
    register(server);
    return server;
  });
}

/** Like {@link hostTools}, for servers that `protectedServer` does not build. */
export function hostServers(build: (errors: string[]) => McpServer): Hosted {
  const errors: string[] = [];
  const server = () => build(errors);
  const handler = createMcpHandler(server);
  onTestFinished(() => handler.close());
  const send: Hosted['send'] = (method, params, { authInfo, signal, ...options } = {}) => {
    const init = { ...requestInit(method, params, options), ...(signal && { signal }) };
    return handler.fetch(new Request('http://mrtr.invalid/mcp', init), authInfo && { authInfo });
  };
  return {
    errors,
    server,
    send,
    post: async (...request) => {
      const { status: _, text: __, ...reply } = await readPosted(await send(...request));
      return reply;
    },
  };
}

/** A published v1 client, with its own server. `answer` is its user; without one it declares no elicitation. */
export function oldClient(
  { server }: Pick<Hosted, 'server'>,
  answer?: (params: unknown) => Record<string, unknown>,
): ReturnType<InProcess['legacy']> {
  const site = new InProcess(server);
  onTestFinished(() => site.close());
  return site.legacy(answer && { user: (question) => answer(question) as { action: 'cancel' } });
}

/** The events that are published on `name` until the test ends. */
export function eventsOf<Name extends keyof Events>(name: Name): Events[Name][] {
  const events: Events[Name][] = [];
  onTestFinished(observe(name, (event) => events.push(event)));
  return events;
}
