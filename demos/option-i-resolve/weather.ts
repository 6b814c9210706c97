import { DEFAULT_UNITS, describeWeather, getWeatherTool, Units, type World } from '@mrtr/comparison';
import { cancelledResult, elicitation, isRefusal, textResult } from '@mrtr/core';
import { outcome, resolve, resolver } from '@mrtr/shapes/resolve';

const units = resolver('units', {}, () => elicitation('Which units?', Units, { fallback: DEFAULT_UNITS }));

export const getWeather = (world: World) =>
  resolve(getWeatherTool.inputSchema, { units: outcome(units) }, async ({ location, units }) => {
    if (isRefusal(units)) return cancelledResult('units');

    // The body runs only in the round that fills its last parameter.
    await world.audit.record(location);
    return textResult(describeWeather(await world.weather.current(location, units.value.units)));
  });
