import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/comparison';
import { elicitation, textResult } from '@mrtr/core';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';

const units = elicitation('Which units?', Units, { fallback: DEFAULT_UNITS });

export const getWeather = (world: World) =>
  new ToolBuilder<GetWeather>()
    .incompleteStep('units', () => units)
    .endStep(async ({ location }, { units: { units } }) => {
      // Runs only when every step has its data, so it needs no guard.
      await world.audit.record(location);
      return textResult(describeWeather(await world.weather.current(location, units)));
    })
    .build();
