/** An McpServer that you build yourself: protect it before you register anything. */
import { McpServer } from '@modelcontextprotocol/server';
import { protectRequestState } from '@mrtr/core';
import { policy, registerDeploy } from './deploy.ts';

export function createServer(): McpServer {
  const server = new McpServer(
    { name: 'deployer', version: '1.0.0' },
    // The same as in the policy: `legacy: 'shim'` (the default) is `legacyShim: true`, and `limits.rounds` is 10, like
    // `maxRounds` here. Declare no tools, prompts or resources here: that installs handlers which nothing protects, and
    // protectRequestState rejects the server.
    { instructions: 'Deploys.', inputRequired: { legacyShim: true, maxRounds: 10 } },
  );
  protectRequestState(server, policy);
  return registerDeploy(server);
}
