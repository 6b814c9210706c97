import { existsSync, realpathSync } from 'node:fs';
import { createWorld, getWeatherTool, resolveWorkItemTool, SERVER_INFO, type World } from '@mrtr/comparison';
import type { StoreOptions } from '@mrtr/comparison/options';
import { type McpServer, protectedServer, type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import { serveOverStdio } from '@mrtr/hosting/stdio';
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

const [, program = ''] = process.argv;
if (existsSync(program) && realpathSync(program) === import.meta.filename) {
  const { STATE_KEY } = process.env;
  const policy = requestStatePolicy({ keys: STATE_KEY === undefined ? undefined : [STATE_KEY] });
  const world = createWorld();
  const store = openStore({ policy });
  serveOverStdio({ server: () => createServer(world, policy, store), close: () => store.close() });
}
