import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/comparison';
import { textResult } from '@mrtr/core';
import type { LinearContext } from '@mrtr/shapes/linear';

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: LinearContext) => {
    // Runs once: the handler really waits below, and is never entered again.
    await world.audit.record(location);

    const { units } = await ctx.elicit('Which units?', Units, { fallback: DEFAULT_UNITS });
    return textResult(describeWeather(await world.weather.current(location, units)));
  };
