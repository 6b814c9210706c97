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
import {
  describeItem,
  describeWeather,
  GET_WEATHER,
  getWeatherTool,
  Original,
  RESOLVE_WORK_ITEM,
  Resolution,
  type ResolutionKind,
  resolveWorkItemTool,
  Units,
  type World,
} from '@mrtr/example-tools';

interface State {
  readonly step: string;
  readonly resolution?: ResolutionKind;
}

/** How the codec is used. With `bind`, it binds a token to the same fields as ours, except the arguments. */
export interface DocumentedOptions {
  readonly bound: boolean;
}

/** A factory of servers. */
export function documented(world: World, { bound }: DocumentedOptions = { bound: true }): () => McpServer {
  const codec = createRequestStateCodec<State>({
    key: randomBytes(32),
    ttlSeconds: 600,
    ...(bound && { bind: (ctx) => `${ctx.mcpReq.method} ${ctx.http?.authInfo?.clientId ?? ''}` }),
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
    server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, async ({ id }, ctx) => {
      const state = ctx.mcpReq.requestState<State>();
      const { inputResponses } = ctx.mcpReq;
      const resolution =
        state?.resolution ?? acceptedContent(inputResponses, 'resolution', Resolution)?.resolution;
      if (!resolution) {
        const message = `How was #${id} resolved?`;
        return inputRequired({
          inputRequests: { resolution: inputRequired.elicit({ message, requestedSchema: Resolution }) },
          requestState: await codec.mint({ step: 'resolution' }, ctx),
        });
      }
      const original = acceptedContent(inputResponses, 'original', Original);
      if (resolution === 'Duplicate' && !original) {
        const message = `Which item is #${id} a duplicate of?`;
        return inputRequired({
          inputRequests: { original: inputRequired.elicit({ message, requestedSchema: Original }) },
          requestState: await codec.mint({ step: 'original', resolution }, ctx),
        });
      }
      return text(describeItem(await world.items.resolve(id, resolution, original?.original)));
    });
    return server;
  };
}

const text = (message: string) => ({ content: [{ type: 'text' as const, text: message }] });
