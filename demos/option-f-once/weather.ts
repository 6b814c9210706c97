import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/comparison';
import { ask, cancelledResult, elicitation, isRefusal, textResult } from '@mrtr/core';
import type { OnceContext } from '@mrtr/shapes/once';

const units = elicitation('Which units?', Units, { fallback: DEFAULT_UNITS });

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: OnceContext) => {
    // Safe above the guard: later rounds find the key in requestState and skip the effect.
    await ctx.once('audit', () => world.audit.record(location));

    const answer = ctx.answer('units', units);
    if (isRefusal(answer)) return cancelledResult('units');
    if (answer.kind !== 'accepted') return ask({ units });
    return textResult(describeWeather(await world.weather.current(location, answer.value.units)));
  };
