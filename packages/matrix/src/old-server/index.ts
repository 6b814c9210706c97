/**
 * An old server, written in the usual way on the v1 SDK (2025-11-25): it asks over the stream that its call holds open,
 * and has no rounds. It uses only the business logic of `@mrtr`.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  GET_WEATHER,
  getWeatherTool,
  RESOLVE_WORK_ITEM,
  resolveWorkItemTool,
  type World,
} from '@mrtr/example-tools';
import { asking } from './ask-user.ts';
import { inSessions, type Sessions } from './sessions.ts';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

function createOldServer(world: World, onEntry: () => void = () => {}): McpServer {
  const server = new McpServer({ name: 'old-server', version: '0.0.0' });
  const ask = asking(server);
  const entered =
    <Input, Rest extends unknown[], R>(handler: (input: Input, ...rest: Rest) => R) =>
    (input: Input, ...rest: Rest): R => {
      onEntry();
      return handler(input, ...rest);
    };
  server.registerTool(GET_WEATHER, getWeatherTool, entered(getWeather(world, ask)));
  server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, entered(resolveWorkItem(world, ask)));
  return server;
}

export const oldServer = {
  id: 'old',
  title: 'a server on the v1 SDK',
  create: ({
    world,
    onEntry,
  }: {
    readonly world: World;
    readonly onEntry?: (() => void) | undefined;
  }): Sessions => inSessions(() => createOldServer(world, onEntry)),
};
