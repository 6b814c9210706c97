import { existsSync, realpathSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createWorld, getWeatherTool, resolveWorkItemTool, SERVER_INFO, type World } from '@mrtr/comparison';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

/** E on the SDK alone, without our boundary, like most servers today. */
export function createServer(world: World): McpServer {
  const server = new McpServer(SERVER_INFO);
  server.registerTool('get_weather', getWeatherTool, getWeather(world));
  server.registerTool('resolve_work_item', resolveWorkItemTool, resolveWorkItem(world));
  return server;
}

const [, program = ''] = process.argv;
if (existsSync(program) && realpathSync(program) === import.meta.filename) {
  const world = createWorld();
  serveStdio(() => createServer(world));
}
