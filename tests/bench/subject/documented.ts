/**
 * The SDK's documented style, for comparison: a guard-first handler, with a zod schema for `inputRequired.elicit` in
 * each call, and the step and the answers so far in a state of `createRequestStateCodec`.
 */
import { randomBytes } from 'node:crypto';
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import { describeWeather, GET_WEATHER, getWeatherTool, Units, type World } from '@mrtr/example-tools';

interface State {
  readonly step: string;
}

/** A factory of servers. Tokens are bound to the same fields as ours, except the arguments. */
export function documented(world: World): () => McpServer {
  const codec = createRequestStateCodec<State>({
    key: randomBytes(32),
    ttlSeconds: 600,
    bind: (ctx) => `${ctx.mcpReq.method} ${ctx.http?.authInfo?.clientId ?? ''}`,
  });
  return () => {
    const server = new McpServer(
      { name: 'documented', version: '0.0.0' },
      { capabilities: { tools: {} }, requestState: { verify: codec.verify } },
    );
    server.registerTool(GET_WEATHER, getWeatherTool, async ({ location }, ctx) => {
      const answer = acceptedContent(ctx.mcpReq.inputResponses, 'units', Units);
      if (!answer) {
        return inputRequired({
          inputRequests: { units: inputRequired.elicit({ message: 'Which units?', requestedSchema: Units }) },
          requestState: await codec.mint({ step: 'units' }, ctx),
        });
      }
      await world.audit.record(location);
      return text(describeWeather(await world.weather.current(location, answer.units)));
    });
    return server;
  };
}

const text = (message: string) => ({ content: [{ type: 'text' as const, text: message }] });
