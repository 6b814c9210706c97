/** What a protected server adds to the registration of tools, prompts and resources. */
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { findCall } from './call.ts';
import { publish } from './diagnostics.ts';
import { memoized } from './memoized.ts';
import { notAResult, shapeOf } from './shape-callback.ts';
import type { StandardSchemaWithJSON } from './wire.ts';

type Callback = (...args: unknown[]) => unknown;
type Register = (...args: unknown[]) => unknown;
const METHODS = ['registerTool', 'registerPrompt', 'registerResource'] as const;

/**
 * Publishes each entry of a plain handler, as the shapes do themselves, and converts the schema of each tool once for
 * all instances. Affects only later registrations.
 */
export function watchRegistration(server: McpServer): void {
  for (const method of METHODS) {
    const register = server[method].bind(server) as Register;
    const watched: Register = (...args) =>
      register(...args.slice(0, -1).map(withMemoizedSchema), entered(args.at(-1) as Callback));
    server[method] = watched as never;
  }
}

function entered(callback: Callback): Callback {
  if (shapeOf(callback) !== undefined) return callback;
  return (...args) => {
    const call = findCall(args.at(-1) as ServerContext);
    if (call) publish('mrtr:handler', { call: call.id, target: call.target, part: 'handler' });
    return checked(callback(...args));
  };
}

/** Without this check, a plain handler that returns a bare string or nothing fails far from its mistake. */
async function checked(returned: unknown): Promise<unknown> {
  const result = await returned;
  if (typeof result === 'object' && result !== null) return result;
  throw notAResult('registered', result);
}

function withMemoizedSchema(config: unknown): unknown {
  const schema = (config as { inputSchema?: unknown } | undefined)?.inputSchema;
  return isSchema(schema) ? { ...(config as object), inputSchema: memoized(schema) } : config;
}

/** Not a raw shape of zod fields: the SDK makes a new schema from it each time. */
const isSchema = (value: unknown): value is StandardSchemaWithJSON =>
  (value as Partial<StandardSchemaWithJSON> | undefined)?.['~standard']?.jsonSchema !== undefined;
