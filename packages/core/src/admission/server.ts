/** Builds a server whose request state is protected. */
import type { Implementation, ServerOptions } from '@modelcontextprotocol/server';
import { McpServer } from '@modelcontextprotocol/server';
import { asRequired, aText, requireOptions } from '../support/options.ts';
import { protectRequestState } from './boundary.ts';
import { aPolicy, partsOf, type RequestStatePolicy } from './policy.ts';

/**
 * Builds an `McpServer` and protects its request state before anything can be registered. It also sets the SDK's legacy
 * shim and its rounds from the policy, so that the two cannot disagree.
 *
 * @param info name and version; the name is the audience unless the policy sets one.
 * @param options the SDK's own, without `capabilities`: the SDK infers those from what you register. Add others with
 * `server.server.registerCapabilities(...)` afterwards.
 * @throws InvalidOption when `info` has no name, and for a policy that `requestStatePolicy` did not make.
 * @example
 * const policy = requestStatePolicy({ keys: [process.env.STATE_KEY] });
 * const createServer = () => {
 *   const server = protectedServer({ name: 'shop', version: '1.0.0' }, policy);
 *   server.registerTool('deploy', { inputSchema }, deploy);
 *   return server;
 * };
 */
export function protectedServer(
  info: Implementation,
  policy: RequestStatePolicy,
  options: Omit<ServerOptions, 'capabilities' | 'requestState'> = {},
): McpServer {
  const { name } = info ?? {};
  requireOptions(
    'protectedServer',
    { name, policy },
    { name: asRequired(aText), policy: asRequired(aPolicy) },
  );
  const { audience, legacy, maxRounds } = partsOf(policy);
  const server = new McpServer(info, {
    ...options,
    inputRequired: {
      maxRounds,
      ...options.inputRequired,
      legacyShim: legacy === 'shim',
    },
  });
  protectRequestState(server, audience === undefined ? policy.with({ audience: name }) : policy);
  return server;
}
