import { defineOption } from '@mrtr/option';
import { claims } from './claims.ts';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export const option = defineOption({
  handlers: ({ world }) => ({ getWeather: getWeather(world), resolveWorkItem: resolveWorkItem(world) }),
  claims,
});
