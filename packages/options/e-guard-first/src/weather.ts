import {
  type Answer,
  canAsk,
  cancelledResult,
  elicitation,
  inputRequired,
  isRefusal,
  readAnswer,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import { DEFAULT_UNITS, describeWeather, type GetWeather, Units, type World } from '@mrtr/tools';

const units = elicitation('Which units?', Units);

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, ctx: ServerContext) => {
    const answer: Answer<typeof DEFAULT_UNITS> = canAsk(ctx, 'elicitation')
      ? readAnswer(ctx, 'units', units)
      : { kind: 'accepted', value: DEFAULT_UNITS };
    if (isRefusal(answer)) return cancelledResult();
    if (answer.kind !== 'accepted') return inputRequired({ inputRequests: { units: units.request } });

    // Below the guard, by convention: above it, this would run once per round.
    await world.audit.record(location);
    return textResult(describeWeather(await world.weather.current(location, answer.value.units)));
  };
