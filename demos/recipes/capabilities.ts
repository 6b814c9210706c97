/** Capabilities of your own: add them after the server is protected, and before it connects. */
import { type McpServer, protectedServer } from '@mrtr/core';
import { policy, registerDeploy } from './deploy.ts';

export function createServer(): McpServer {
  const server = protectedServer({ name: 'deployer', version: '1.0.0' }, policy);
  // `tools` is inferred from what you register. In the constructor, `capabilities: { tools: {} }` would install
  // handlers at once, before anything can protect them; so protectedServer does not take it.
  server.server.registerCapabilities({ logging: {}, experimental: { 'example.com/dry-run': {} } });
  return registerDeploy(server);
}
