import { textResult } from '@mrtr/core';
import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/example-tools';
import type { AwaitShimContext } from '@mrtr/shapes/await-shim';

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: AwaitShimContext) => {
    // The trap: it looks as if it ran once. A modern client makes it run in every round.
    await world.audit.record(location);

    const { units } = await ctx.elicit('Which units?', Units, { fallback: DEFAULT_UNITS });
    return textResult(describeWeather(await world.weather.current(location, units)));
  };
