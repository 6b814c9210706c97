import { getWeatherTool, resolveWorkItemTool, SERVER_INFO, type World } from '@mrtr/comparison';
import { serveAsProgram } from '@mrtr/comparison/program';
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import { byEra } from './by-era.ts';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export function createServer(world: World, policy: RequestStatePolicy): McpServer {
  const server = protectedServer(SERVER_INFO, policy);
  server.registerTool('get_weather', getWeatherTool, byEra(getWeather(world)));
  server.registerTool('resolve_work_item', resolveWorkItemTool, byEra(resolveWorkItem(world)));
  return server;
}

serveAsProgram(import.meta.filename, { createServer });
