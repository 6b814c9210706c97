import { getWeatherTool, resolveWorkItemTool, SERVER_INFO, type World } from '@mrtr/comparison';
import { serveAsProgram } from '@mrtr/comparison/program';
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export function createServer(world: World, policy: RequestStatePolicy): McpServer {
  // Also where the policy says `degrade`, the SDK's own shim plays the rounds over an old client's stream.
  const server = protectedServer(SERVER_INFO, policy.with({ legacy: 'shim' }));
  server.registerTool('get_weather', getWeatherTool, getWeather(world));
  server.registerTool('resolve_work_item', resolveWorkItemTool, resolveWorkItem(world));
  return server;
}

serveAsProgram(import.meta.filename, { createServer });
