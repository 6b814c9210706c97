import { getWeatherTool, resolveWorkItemTool, SERVER_INFO, type World } from '@mrtr/comparison';
import { serveAsProgram } from '@mrtr/comparison/program';
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { type LinearStore, linear } from '@mrtr/shapes/linear';
import { openStore } from './store.ts';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export { openStore };

export function createServer(world: World, policy: RequestStatePolicy, store: LinearStore): McpServer {
  const server = protectedServer(SERVER_INFO, policy);
  server.registerTool('get_weather', getWeatherTool, linear(getWeather(world), { store }));
  server.registerTool('resolve_work_item', resolveWorkItemTool, linear(resolveWorkItem(world), { store }));
  return server;
}

serveAsProgram(import.meta.filename, { createServer, openStore }, ['STATE_KEY', 'POSTGRES']);
