import { type Option, SERVER_INFO } from '@mrtr/contract';
import { protectedServer } from '@mrtr/core';
import { GET_WEATHER, getWeatherTool, RESOLVE_WORK_ITEM, resolveWorkItemTool } from '@mrtr/domain';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export const option: Option = {
  id: 'h',
  title: 'linear continuation',
  claims: {
    modern: {
      entries: 'once',
      audit: 'before-asking',
      stateBytes: { get_weather: [147], resolve_work_item: [147, 147] },
      framesHeld: 1,
      otherInstance: 'refused',
      restart: 'refused',
      afterKill: 'refused',
      unaskable: 'default',
    },
    legacy: {
      entries: 'once',
      audit: 'before-asking',
      asked: 'by-policy',
      stateless: 'default',
      afterKill: 'lost',
    },
  },
  create({ world, state, instance }) {
    // Beside the servers and not inside one: frames outlive the request that parked them.
    const store = new ContinuationStore({ locate: () => instance });

    const weather = linear(getWeather(world), { store });
    const workItem = linear(resolveWorkItem(world), { store });
    return {
      server() {
        const server = protectedServer(SERVER_INFO, state);
        server.registerTool(GET_WEATHER, getWeatherTool, weather);
        server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, workItem);
        return server;
      },
      framesHeld: () => store.parked,
      close: () => store.close(),
    };
  },
};
