import { defineOption } from '@mrtr/options-contract';
import { claims } from './claims.ts';
import { getWeather } from './weather-naive.ts';
import { resolveWorkItem } from './work-item.ts';

/** E with the side effect above the guard: the mistake that the convention prevents. */
export const option = defineOption({
  handlers: ({ world }) => ({ getWeather: getWeather(world), resolveWorkItem: resolveWorkItem(world) }),
  claims: {
    ...claims,
    modern: { ...claims.modern, audit: 'every-entry' },
    legacy: { ...claims.legacy, audit: 'every-entry' },
  },
});
