/** The SDK's own HTTP entry: a web-standard `fetch`, for Node, Bun, Deno and workers. */
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { protectedServer } from '@mrtr/core';
import { policy, registerDeploy } from './deploy.ts';

/** A new server for each request: nothing is held between two rounds. */
export const createServer = (): McpServer =>
  registerDeploy(protectedServer({ name: 'deployer', version: '1.0.0' }, policy));

// Old clients are served without a session, so nobody can ask them. To ask them, host with @mrtr/hosting/http.
export const handler = createMcpHandler(createServer);

// Then `Deno.serve(handler.fetch)`, `Bun.serve({ fetch: handler.fetch })`, or one of the recipes for Node.
