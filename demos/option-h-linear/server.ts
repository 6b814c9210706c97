import { getWeatherTool, resolveWorkItemTool, SERVER_INFO, type World } from '@mrtr/comparison';
import type { StoreOptions } from '@mrtr/comparison/options';
import { serveAsProgram } from '@mrtr/comparison/program';
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

/** One store per instance, not per server: calls outlive the request that began them. */
export const openStore = ({ instance }: StoreOptions) => new ContinuationStore({ locate: () => instance });

export function createServer(world: World, policy: RequestStatePolicy, store: ContinuationStore): McpServer {
  const server = protectedServer(SERVER_INFO, policy);
  server.registerTool('get_weather', getWeatherTool, linear(getWeather(world), { store }));
  server.registerTool('resolve_work_item', resolveWorkItemTool, linear(resolveWorkItem(world), { store }));
  return server;
}

serveAsProgram(import.meta.filename, { createServer, openStore });
