import { existsSync, realpathSync } from 'node:fs';
import { createWorld, getWeatherTool, resolveWorkItemTool, SERVER_INFO, type World } from '@mrtr/comparison';
import { type McpServer, protectedServer, type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import { serveOverStdio } from '@mrtr/hosting/stdio';
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

const [, program = ''] = process.argv;
if (existsSync(program) && realpathSync(program) === import.meta.filename) {
  const { STATE_KEY, POSTGRES } = process.env;
  if (!STATE_KEY || !POSTGRES) throw new Error('Set STATE_KEY, 32 bytes or more, and POSTGRES.');
  const policy = requestStatePolicy({ keys: [STATE_KEY] });
  const world = createWorld();
  const store = openStore({ policy, postgres: POSTGRES });
  serveOverStdio({ server: () => createServer(world, policy, store), close: () => store.close() });
}
