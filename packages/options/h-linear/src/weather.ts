import { textResult } from '@mrtr/core';
import type { LinearContext } from '@mrtr/shapes/linear';
import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/tools';

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: LinearContext) => {
    // Runs once: the await below is a real one, and nothing is re-entered; a durable store goes by the key.
    await ctx.run('audit', () => world.audit.record(location));

    const { units } = ctx.canAsk('elicitation') ? await ctx.elicit('Which units?', Units) : DEFAULT_UNITS;
    return textResult(describeWeather(await world.weather.current(location, units)));
  };
