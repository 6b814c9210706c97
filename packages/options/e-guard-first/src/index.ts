import { protectedServer } from '@mrtr/core';
import {
  type Claims,
  GET_WEATHER,
  getWeatherTool,
  type Option,
  RESOLVE_WORK_ITEM,
  resolveWorkItemTool,
  SERVER_INFO,
} from '@mrtr/tools';
import { getWeather } from './weather.ts';
import { getWeather as getWeatherNaively } from './weather-naive.ts';
import { resolveWorkItem } from './work-item.ts';

const claims: Claims = {
  modern: {
    entries: 'every-round',
    audit: 'after-answer',
    stateBytes: { get_weather: [0], resolve_work_item: [0, 113] },
    framesHeld: 0,
    otherInstance: 'finishes',
    restart: 'finishes',
    afterKill: 'finishes',
    unaskable: 'default',
  },
  legacy: {
    entries: 'every-round',
    audit: 'after-answer',
    asked: 'by-policy',
    stateless: 'default',
    afterKill: 'lost',
  },
};

const optionWith = (
  weather: typeof getWeather,
  identity: Pick<Option, 'id' | 'title' | 'claims'>,
): Option => ({
  ...identity,
  create: ({ world, state }) => ({
    server() {
      const server = protectedServer(SERVER_INFO, state);
      server.registerTool(GET_WEATHER, getWeatherTool, weather(world));
      server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, resolveWorkItem(world));
      return server;
    },
    close: async () => {},
  }),
});

export const option = optionWith(getWeather, { id: 'e', title: 'guard-first', claims });

/** The same, with the side effect above the guard: what the convention protects from. */
export const naive = optionWith(getWeatherNaively, {
  id: 'e-naive',
  title: 'guard-first, naive',
  claims: {
    modern: { ...claims.modern, audit: 'every-entry' },
    legacy: { ...claims.legacy, audit: 'every-entry' },
  },
});
