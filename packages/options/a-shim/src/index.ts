import { protectedServer } from '@mrtr/core';
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
  id: 'a',
  title: "guard-first + the SDK's shim",
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
      entries: 'every-round',
      audit: 'after-answer',
      asked: 'always',
      stateless: 'error',
      afterKill: 'lost',
    },
  },
  create: ({ world, state }) => ({
    server() {
      // The whole of the shape: the SDK's own shim replays the rounds over an old client's stream.
      const server = protectedServer(SERVER_INFO, { ...state, legacy: 'shim' });
      server.registerTool(GET_WEATHER, getWeatherTool, getWeather(world));
      server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, resolveWorkItem(world));
      return server;
    },
    close: async () => {},
  }),
};
