/** A new server whose request state is protected. */

import type { Implementation, ServerOptions } from '@modelcontextprotocol/server';
import { McpServer } from '@modelcontextprotocol/server';
import { memoized } from './memoized.ts';
import { protectRequestState } from './state/boundary.ts';
import type { RequestStatePolicy } from './state/policy.ts';
import type { StandardSchemaWithJSON } from './wire.ts';

/**
 * Builds an `McpServer`, protects its request state before anything can be registered, and switches the SDK's
 * legacy shim to what the policy says, so that the two cannot disagree.
 *
 * @param info name and version; the name is the audience unless the policy sets one.
 * @param options the SDK's own, without `capabilities`: those are inferred from what is registered.
 * @example
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY] });
 * const handler = createMcpHandler(() => {
 *   const server = protectedServer({ name: 'shop', version: '1.0.0' }, policy);
 *   server.registerTool('deploy', { inputSchema }, deploy);
 *   return server;
 * });
 */
export function protectedServer(
  info: Implementation,
  policy: RequestStatePolicy,
  options: Omit<ServerOptions, 'capabilities' | 'requestState'> = {},
): McpServer {
  const server = new McpServer(info, {
    ...options,
    inputRequired: { ...options.inputRequired, legacyShim: policy.legacy === 'shim' },
  });
  protectRequestState(server, { ...policy, audience: policy.audience ?? info.name });
  rememberSchemas(server);
  return server;
}

/** Has the input schema of each tool that is registered from now on converted to JSON Schema once, for all instances. */
function rememberSchemas(server: McpServer): void {
  const registerTool = server.registerTool.bind(server) as (
    name: string,
    config: Config,
    run: unknown,
  ) => unknown;
  server.registerTool = ((name: string, config: Config, run: unknown) => {
    const { inputSchema } = config;
    return registerTool(
      name,
      isSchema(inputSchema) ? { ...config, inputSchema: memoized(inputSchema) } : config,
      run,
    );
  }) as typeof server.registerTool;
}

type Config = { readonly inputSchema?: unknown };

/** And not a raw shape of zod fields, which the SDK makes a new schema of each time. */
const isSchema = (value: unknown): value is StandardSchemaWithJSON =>
  (value as Partial<StandardSchemaWithJSON> | undefined)?.['~standard']?.jsonSchema !== undefined;
