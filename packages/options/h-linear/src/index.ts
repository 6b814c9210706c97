import { protectedServer } from '@mrtr/core';
import { ContinuationStore, type LinearStore, linear } from '@mrtr/shapes/linear';
import {
  type Claims,
  GET_WEATHER,
  getWeatherTool,
  type Option,
  type OptionDeps,
  RESOLVE_WORK_ITEM,
  resolveWorkItemTool,
  SERVER_INFO,
} from '@mrtr/tools';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

/** H on the store that `open` gives: the tools are the same, and what becomes of a call elsewhere is the store's. */
export const linearOption = (
  open: (deps: OptionDeps) => LinearStore,
  identity: Omit<Option, 'create'>,
): Option => ({
  ...identity,
  create(deps) {
    // Beside the servers and not inside one: calls outlive the request that began them.
    const store = open(deps);
    const weather = linear(getWeather(deps.world), { store });
    const workItem = linear(resolveWorkItem(deps.world), { store });
    return {
      server() {
        const server = protectedServer(SERVER_INFO, deps.state);
        server.registerTool(GET_WEATHER, getWeatherTool, weather);
        server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, workItem);
        return server;
      },
      framesHeld: () => store.parked,
      close: () => store.close(),
    };
  },
});

const claims: Claims = {
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
};

export const option: Option = linearOption(
  ({ instance }) => new ContinuationStore({ locate: () => instance }),
  { id: 'h', title: 'linear continuation', claims },
);
