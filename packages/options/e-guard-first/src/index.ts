import { defineOption, writeGuardFirst } from '@mrtr/options-contract';
import { COMPARES_SCHEMA } from '@mrtr/options-contract/deploys';
import { claims } from './claims.ts';
import { getWeather } from './weather.ts';
import { resolveWorkItem } from './work-item.ts';

export const option = defineOption({
  handlers: ({ world }) => ({
    getWeather: getWeather(world),
    resolveWorkItem: resolveWorkItem(world),
    write: writeGuardFirst,
  }),
  claims: { ...claims, deploys: COMPARES_SCHEMA, conformance: true },
});
