import { textResult } from '@mrtr/core';
import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/domain';
import type { LinearContext } from '@mrtr/shapes/linear';

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: LinearContext) => {
    // Runs once: the await below is a real one, and nothing is ever re-entered.
    await world.audit.record(location);

    const { units } = ctx.canAsk('elicitation') ? await ctx.elicit('Which units?', Units) : DEFAULT_UNITS;
    return textResult(describeWeather(await world.weather.current(location, units)));
  };
