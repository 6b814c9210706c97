import { protectedServer } from '@mrtr/core';
import { awaitShim } from '@mrtr/shapes/await-shim';
import {
  GET_WEATHER,
  getWeatherTool,
  type Option,
  RESOLVE_WORK_ITEM,
  resolveWorkItemTool,
  SERVER_INFO,
} from '@mrtr/tools';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export const option: Option = {
  id: 'b',
  title: 'await by re-entry',
  claims: {
    modern: {
      entries: 'every-round',
      audit: 'every-entry',
      stateBytes: { get_weather: [138], resolve_work_item: [145, 261] },
      framesHeld: 0,
      otherInstance: 'finishes',
      restart: 'finishes',
      afterKill: 'finishes',
      unaskable: 'error',
    },
    legacy: { entries: 'once', audit: 'every-entry', asked: 'always', stateless: 'error', afterKill: 'lost' },
  },
  create: ({ world, state }) => ({
    server() {
      const server = protectedServer(SERVER_INFO, state);
      server.registerTool(GET_WEATHER, getWeatherTool, awaitShim(getWeather(world)));
      server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, awaitShim(resolveWorkItem(world)));
      return server;
    },
    close: async () => {},
  }),
};
