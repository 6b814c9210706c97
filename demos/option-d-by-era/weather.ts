import { describeWeather, type GetWeather, Units, type World } from '@mrtr/comparison';
import {
  ask,
  askLive,
  cancelledResult,
  elicitation,
  isRefusal,
  readAnswer,
  type ServerContext,
  textResult,
} from '@mrtr/core';

const units = elicitation('Which units?', Units);

export const getWeather = (world: World) => ({
  async modern({ location }: GetWeather, ctx: ServerContext) {
    const answer = readAnswer(ctx, 'units', units);
    if (isRefusal(answer)) return cancelledResult('units');
    if (answer.kind !== 'accepted') return ask({ units });

    await world.audit.record(location);
    return textResult(describeWeather(await world.weather.current(location, answer.value.units)));
  },

  async legacy({ location }: GetWeather, ctx: ServerContext) {
    const answer = await askLive(ctx, 'units', units);
    if (isRefusal(answer)) return cancelledResult('units');

    await world.audit.record(location);
    return textResult(describeWeather(await world.weather.current(location, answer.value.units)));
  },
});
