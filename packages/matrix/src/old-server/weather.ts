import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describeWeather, type GetWeather, Units, type World } from '@mrtr/example-tools';
import type { Ask, Extra } from './ask-user.ts';
import { cancellationResult, text } from './results.ts';

export const getWeather =
  (world: World, ask: Ask) =>
  async ({ location }: GetWeather, extra: Extra): Promise<CallToolResult> => {
    await world.audit.record(location);
    const answer = await ask('Which units?', Units, extra);
    if (!answer) return cancellationResult('units');
    return text(describeWeather(await world.weather.current(location, answer.units)));
  };
