import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/comparison';
import { textResult } from '@mrtr/core';
import type { AwaitShimContext } from './await-shim.ts';

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: AwaitShimContext) => {
    // The trap: it seems to run once, but with a modern client it runs in every round.
    await world.audit.record(location);

    const { units } = await ctx.elicit('Which units?', Units, { fallback: DEFAULT_UNITS });
    return textResult(describeWeather(await world.weather.current(location, units)));
  };
