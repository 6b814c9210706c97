import {
  acceptedContent,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { describeWeather, type GetWeather, Units, type World } from '@mrtr/comparison';
import { text } from './text.ts';

export const getWeather =
  (world: World) =>
  async ({ location }: GetWeather, { mcpReq: { inputResponses } }: ServerContext) => {
    const given = inputResponse(inputResponses, 'units');
    if (given.kind === 'elicit' && given.action !== 'accept')
      return text("Cancelled: the question 'units' was not answered.");
    const answer = acceptedContent(inputResponses, 'units', Units);
    if (answer === undefined) {
      const units = inputRequired.elicit({ message: 'Which units?', requestedSchema: Units });
      return inputRequired({ inputRequests: { units } });
    }
    await world.audit.record(location);
    return text(describeWeather(await world.weather.current(location, answer.units)));
  };
