import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/comparison';
import { elicitation, textResult } from '@mrtr/core';
import type { JournalContext } from '@mrtr/shapes/journal';

const units = elicitation('Which units?', Units, { fallback: DEFAULT_UNITS });

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: JournalContext) => {
    // Each round enters the handler, as in B. But a step in the journal does not execute again.
    await ctx.once('audit', () => world.audit.record(location));

    const answer = await ctx.ask('units', units);
    return textResult(describeWeather(await world.weather.current(location, answer.units)));
  };
