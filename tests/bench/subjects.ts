/** The measured servers, by name: the shapes, H on PostgreSQL, and two for comparison. */
import { randomBytes } from 'node:crypto';
import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import {
  createWorld,
  describeWeather,
  GET_WEATHER,
  getWeatherTool,
  RESOLVE_WORK_ITEM,
  resolveWorkItemTool,
  Units,
} from '@mrtr/comparison';
import { findOption, type ListedOption, loadOption, OPTIONS } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';

/** The ids of the recommended shapes in memory: F and later. */
export const SHAPES: readonly string[] = OPTIONS.filter(
  ({ id, needsPostgres }) => id >= 'f' && !needsPostgres,
).map(({ id }) => id);

/** The policy that users have, or one without single use. It has keys, as H on PostgreSQL requires. */
export const policy = (singleUse?: false) => requestStatePolicy({ keys: [randomBytes(32)], singleUse });

const WITHOUT_SINGLE_USE = ' without single use';

/** The subject of a shape whose tokens are served again and again, so that no ledger is measured. */
export const withoutSingleUse = (id: string): string => `${id}${WITHOUT_SINGLE_USE}`;

/** The empty handler whose schema is converted to JSON Schema once, as our servers do it. */
export const REMEMBERED = 'empty, schema remembered';

/** The documented style on our hosting, which shows what the hosting costs without a shape. */
export const HOSTED = 'documented, hosted';

/** The server factory of a name. H on PostgreSQL uses the database of `MRTR_BENCH_POSTGRES`. */
export async function servers(name: string): Promise<() => McpServer> {
  if (name === 'documented' || name === HOSTED) return documented();
  if (name === 'empty') return () => empty();
  if (name === REMEMBERED) return () => empty(rememberedTool);
  const [id = ''] = name.split(WITHOUT_SINGLE_USE);
  const option = await loadOption(findOption(id) as ListedOption);
  const postgres = process.env.MRTR_BENCH_POSTGRES;
  return option.create({ world: createWorld(), policy: id === name ? policy() : policy(false), postgres })
    .server;
}

/**
 * The SDK's documented style: a guard-first handler, with a zod schema for `inputRequired.elicit` in each call, and the
 * step in a state of `createRequestStateCodec`. Tokens are bound to the same fields as ours, except the arguments.
 */
function documented(): () => McpServer {
  const { audit, weather } = createWorld();
  const codec = createRequestStateCodec<{ readonly step: string }>({
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
      await audit.record(location);
      return text(describeWeather(await weather.current(location, answer.units)));
    });
    return registerOther(server);
  };
}

const text = (message: string) => ({ content: [{ type: 'text' as const, text: message }] });
const units = inputRequired.elicit({ message: 'Which units?', requestedSchema: Units });
const done = text('Done.');

/** The least work to ask the same question: a prepared question, no state, no checks. */
function empty(tool: typeof getWeatherTool = getWeatherTool): McpServer {
  const server = new McpServer({ name: 'empty', version: '0.0.0' });
  server.registerTool(GET_WEATHER, tool, async (_args, { mcpReq }) =>
    mcpReq.inputResponses ? done : inputRequired({ inputRequests: { units } }),
  );
  return registerOther(server);
}

/** Registers the options' second tool, which nobody calls: each request makes its server with all tools. */
function registerOther(server: McpServer): McpServer {
  server.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, async () => done);
  return server;
}

/** The tool of the empty handler, with a schema that is converted to JSON Schema once, as our servers do it. */
const { inputSchema } = getWeatherTool;
const standard = inputSchema['~standard'];
const json = standard.jsonSchema.input({ target: 'draft-2020-12' });
const rememberedTool = {
  ...getWeatherTool,
  inputSchema: Object.create(inputSchema, {
    '~standard': { value: { ...standard, jsonSchema: { input: () => json, output: () => json } } },
  }) as typeof inputSchema,
};
