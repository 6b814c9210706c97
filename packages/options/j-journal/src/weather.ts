import { textResult } from '@mrtr/core';
import type { JournalContext } from '@mrtr/shapes/journal';
import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/tools';

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: JournalContext) => {
    // Entered in each round, like B; but a step that the journal has does not execute again.
    await ctx.run('audit', () => world.audit.record(location));

    const { units } = ctx.canAsk('elicitation')
      ? await ctx.elicit('units', 'Which units?', Units)
      : DEFAULT_UNITS;
    return textResult(describeWeather(await world.weather.current(location, units)));
  };
