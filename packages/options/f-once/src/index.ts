import { protectedServer } from '@mrtr/core';
import { once } from '@mrtr/shapes/once';
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
  id: 'f',
  title: 'once',
  claims: {
    modern: {
      entries: 'every-round',
      audit: 'before-asking',
      stateBytes: { get_weather: [153], resolve_work_item: [137, 253] },
      framesHeld: 0,
      otherInstance: 'finishes',
      restart: 'finishes',
      afterKill: 'finishes',
      unaskable: 'default',
    },
    legacy: {
      entries: 'every-round',
      audit: 'before-asking',
      asked: 'by-policy',
      stateless: 'default',
      afterKill: 'lost',
    },
  },
  create({ world, state }) {
    const [weather, workItem] = [once(getWeather(world)), once(resolveWorkItem(world))];
    return {
      server() {
        const server = protectedServer(SERVER_INFO, state);
        server.registerTool(GET_WEATHER, getWeatherTool, weather);
        server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, workItem);
        return server;
      },
      close: async () => {},
    };
  },
};
