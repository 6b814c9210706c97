import { canAsk, cancelledResult, isRefusal, textResult } from '@mrtr/core';
import { elicit, injected, outcome, requestContext, resolver } from '@mrtr/shapes/resolve';
import { DEFAULT_UNITS, describeWeather, getWeatherTool, Units, type World } from '@mrtr/tools';

const units = resolver('units', { ctx: requestContext() }, ({ ctx }) =>
  canAsk(ctx, 'elicitation') ? elicit('Which units?', Units) : DEFAULT_UNITS,
);

export const getWeather = (world: World) =>
  injected(getWeatherTool.inputSchema, { units: outcome(units) }, async ({ location, units }) => {
    if (isRefusal(units)) return cancelledResult();

    // The body runs in one round only: the one in which its parameters are there.
    await world.audit.record(location);
    return textResult(describeWeather(await world.weather.current(location, units.value.units)));
  });
