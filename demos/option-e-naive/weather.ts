import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/comparison';
import {
  ask,
  cancelledResult,
  elicitation,
  isRefusal,
  readAnswer,
  type ServerContext,
  textResult,
} from '@mrtr/core';

const units = elicitation('Which units?', Units, { fallback: DEFAULT_UNITS });

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: ServerContext) => {
    // The mistake: this line looks right, but it runs in every round.
    await world.audit.record(location);

    const answer = readAnswer(ctx, 'units', units);
    if (isRefusal(answer)) return cancelledResult('units');
    if (answer.kind !== 'accepted') return ask({ units });
    return textResult(describeWeather(await world.weather.current(location, answer.value.units)));
  };
