import { existsSync, realpathSync } from 'node:fs';
import { createWorld, getWeatherTool, resolveWorkItemTool, SERVER_INFO, type World } from '@mrtr/comparison';
import { type McpServer, protectedServer, type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import { serveOverStdio } from '@mrtr/hosting/stdio';
import { byEra } from './by-era.ts';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export function createServer(world: World, policy: RequestStatePolicy): McpServer {
  const server = protectedServer(SERVER_INFO, policy);
  server.registerTool('get_weather', getWeatherTool, byEra(getWeather(world)));
  server.registerTool('resolve_work_item', resolveWorkItemTool, byEra(resolveWorkItem(world)));
  return server;
}

const [, program = ''] = process.argv;
if (existsSync(program) && realpathSync(program) === import.meta.filename) {
  const { STATE_KEY } = process.env;
  const policy = requestStatePolicy({ keys: STATE_KEY === undefined ? undefined : [STATE_KEY] });
  const world = createWorld();
  serveOverStdio({ server: () => createServer(world, policy) });
}
