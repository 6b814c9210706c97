/** Starts an instance of a subject. */
import { McpServer } from '@modelcontextprotocol/server';
import type { HostedInstance } from '@mrtr/harness';
import type { OptionDeps } from './options.ts';

/** Called when a handler is entered, and before its result is sent. */
export interface EntryListeners {
  readonly onEntry: () => void;
  readonly onExit?: () => void;
}

/** The listeners hear of a subject on the SDK alone only. Of any other, the diagnostics tell. */
export function startSubject<Instance extends HostedInstance>(
  { create, isBare }: { create(deps: OptionDeps): Instance; readonly isBare?: boolean },
  deps: OptionDeps,
  listeners: EntryListeners,
): Instance {
  const running = create(deps);
  if (!isBare || !('server' in running)) return running;
  const { server } = running;
  return { ...running, server: () => listening(listeners, () => server()) };
}

type RegisterTool = (this: McpServer, name: string, config: object, handler: Handler) => unknown;
type Handler = (...args: unknown[]) => Promise<unknown>;

/** Makes a server whose handlers call the listeners. The SDK offers no hook, so `registerTool` is another one meanwhile. */
function listening<T>({ onEntry, onExit = () => {} }: EntryListeners, create: () => T): T {
  const prototype = McpServer.prototype as unknown as { registerTool: RegisterTool };
  const { registerTool } = prototype;
  prototype.registerTool = function (name, config, handler) {
    return registerTool.call(this, name, config, (...args) => {
      onEntry();
      return handler(...args).finally(onExit);
    });
  };
  try {
    return create();
  } finally {
    prototype.registerTool = registerTool;
  }
}
