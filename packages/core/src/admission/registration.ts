/** Watches the registration of tools, prompts and resources on a protected server. */
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { publish } from '../diagnostics/diagnostics.ts';
import { findCall } from '../wire/call.ts';
import { runHandler } from './handler-run.ts';
import { notAResult, shapeOf } from './shape-callback.ts';

type Callback = (...args: unknown[]) => unknown;
type Register = (...args: unknown[]) => unknown;
type Registered = { update(updates: { callback?: Callback }): void };
const METHODS = ['registerTool', 'registerPrompt', 'registerResource'] as const;

/**
 * Records each run of a handler for the boundary, and publishes each entry of a plain handler; shapes publish their
 * own. Affects only later registrations.
 */
export function watchRegistration(server: McpServer): { isRegistering(): boolean } {
  let registering = false;
  for (const method of METHODS) {
    const register = server[method].bind(server) as Register;
    const watchingRegister: Register = (...args) => {
      registering = true;
      try {
        const callback = watchCallback(args.at(-1) as Callback);
        return watchUpdates(register(...args.slice(0, -1), callback) as Registered);
      } finally {
        registering = false;
      }
    };
    server[method] = watchingRegister as never;
  }
  return { isRegistering: () => registering };
}

/** Also watches a callback that the author sets later with `update`. */
function watchUpdates(registered: Registered): Registered {
  const update = registered.update.bind(registered);
  registered.update = ({ callback, ...updates }) =>
    update(callback === undefined ? updates : { ...updates, callback: watchCallback(callback) });
  return registered;
}

function watchCallback(callback: Callback): Callback {
  return (...args) => {
    const ctx = args.at(-1) as ServerContext;
    return runHandler(ctx, callback, () => {
      if (shapeOf(callback) !== undefined) return callback(...args);
      const call = findCall(ctx);
      if (call) publish('mrtr:handler', { call: call.id, target: call.target, part: 'handler' });
      return requireResult(callback(...args));
    });
  };
}

/** Checks a plain handler's result. Otherwise a bare string, or nothing, would fail far from the mistake. */
async function requireResult(returned: unknown): Promise<unknown> {
  const result = await returned;
  if (typeof result === 'object' && result !== null) return result;
  throw notAResult('registered', result);
}
