import { protectedServer } from '@mrtr/core';
import { byEra } from '@mrtr/shapes/by-era';
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
  id: 'd',
  title: 'two handlers, by era',
  claims: {
    modern: {
      entries: 'every-round',
      audit: 'after-answer',
      stateBytes: { get_weather: [0], resolve_work_item: [0, 113] },
      framesHeld: 0,
      otherInstance: 'finishes',
      restart: 'finishes',
      afterKill: 'finishes',
      unaskable: 'error',
    },
    legacy: {
      entries: 'once',
      audit: 'after-answer',
      asked: 'always',
      stateless: 'error',
      afterKill: 'lost',
    },
  },
  create: ({ world, state }) => ({
    server() {
      const server = protectedServer(SERVER_INFO, state);
      server.registerTool(GET_WEATHER, getWeatherTool, byEra(getWeather(world)));
      server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, byEra(resolveWorkItem(world)));
      return server;
    },
    close: async () => {},
  }),
};
