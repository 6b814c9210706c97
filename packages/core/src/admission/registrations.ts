/** Watches the registration of tools, prompts and resources on a protected server. */
import type { McpServer, ResourceTemplate, ServerContext } from '@modelcontextprotocol/server';
import { publish } from '../diagnostics/events.ts';
import type { Binding } from '../state/binding.ts';
import { findCall } from '../wire/call.ts';
import type { InputKind } from '../wire/input-kind.ts';
import { runHandler } from './handler-entry.ts';
import { withSchemasOnce } from './json-schema-once.ts';
import { requireResult, servesTokensOnce, shapeOf } from './shape-callback.ts';

type Callback = (...args: unknown[]) => unknown;
type Updates = { readonly callback?: Callback; readonly name?: string | null; readonly uri?: string | null };

/** What the SDK returns for a registration. It enters a handler through one of the first three members. */
interface Registered {
  readonly executor?: unknown;
  readonly handler?: unknown;
  readonly readCallback?: unknown;
  readonly resourceTemplate?: ResourceTemplate;
  update(updates: Updates): void;
}

/** The member of {@link Registered} that the SDK calls. */
const ENTRY = {
  registerTool: 'executor',
  registerPrompt: 'handler',
  registerResource: 'readCallback',
} as const;
type Method = keyof typeof ENTRY;

/** Follows what is registered on a server. */
export interface Registrations {
  isRegistering(): boolean;
  /** The registration of a target; undefined for an unknown one. */
  find(target: Pick<Binding, 'method' | 'target'>): Registration | undefined;
}

/**
 * Records each run of a handler for the boundary, and publishes each entry of a plain handler; shapes publish their
 * own. Affects only later registrations.
 */
export function watchRegistration(server: McpServer): Registrations {
  let registering = false;
  const [tools, prompts, resources, templates] = [new Table(), new Table(), new Table(), new Table()];
  const tableOf = { registerTool: tools, registerPrompt: prompts, registerResource: resources };
  for (const method of Object.keys(ENTRY) as Method[]) {
    const register = server[method].bind(server) as Callback;
    const watchingRegister: Callback = (...args) => {
      registering = true;
      try {
        const callback = args.at(-1) as Callback;
        const given = args.slice(0, -1);
        if (method === 'registerTool') given[1] = withSchemasOnce(given[1] as object);
        const registered = register(...given, watchCallback(callback)) as Registered;
        const isFixed = method === 'registerResource' && typeof args[1] === 'string';
        const table = method === 'registerResource' && !isFixed ? templates : tableOf[method];
        const key = args[isFixed ? 1 : 0] as string;
        return table.follow(
          new Registration(registered, ENTRY[method], callback),
          key,
          isFixed ? 'uri' : 'name',
        );
      } finally {
        registering = false;
      }
    };
    server[method] = watchingRegister as never;
  }
  return {
    isRegistering: () => registering,
    find: ({ method, target }) => {
      if (method !== 'resources/read') return (method === 'tools/call' ? tools : prompts).entries[target];
      // As the SDK does: a fixed URI first, then the first template that matches.
      const uri = URL.canParse(target) ? new URL(target).href : target;
      return resources.entries[uri] ?? Object.values(templates.entries).find((one) => one.matches(uri));
    },
  };
}

/** One tool, prompt, resource or template, and the callback that it enters. */
class Registration {
  readonly registered: Registered;
  readonly #entry: (typeof ENTRY)[Method];
  #callback: Callback;
  /** The SDK's function that calls the callback. */
  #entered: unknown;

  constructor(registered: Registered, entry: (typeof ENTRY)[Method], callback: Callback) {
    this.registered = registered;
    this.#entry = entry;
    this.#callback = callback;
    this.#entered = registered[entry];
  }

  /** False if the author has assigned the member that the SDK enters: then nobody sees its entry. */
  get isWatched() {
    return this.registered[this.#entry] === this.#entered;
  }

  /** The kinds of input that the callback needs. None for a member that the author has assigned. */
  get asks(): readonly InputKind[] {
    return (this.isWatched && shapeOf(this.#callback)?.asks) || [];
  }

  /** Whether the callback serves each token once by itself. False for a member that the author has assigned. */
  get servesTokensOnce() {
    return this.isWatched && servesTokensOnce(this.#callback);
  }

  matches(uri: string) {
    return Boolean(this.registered.resourceTemplate?.uriTemplate.match(uri));
  }

  /** Runs the SDK's `update`, which makes a new function for another callback or schema. */
  update(update: Registered['update'], { callback, ...updates }: Updates) {
    const before = this.registered[this.#entry];
    update(callback === undefined ? updates : { ...updates, callback: watchCallback(callback) });
    if (callback !== undefined) this.#callback = callback;
    if (this.registered[this.#entry] !== before) this.#entered = this.registered[this.#entry];
  }
}

/** Registrations by their names or URIs, in the order of the SDK's own table. */
class Table {
  readonly entries: Record<string, Registration> = Object.create(null);

  /** Follows each `update`, by which the SDK also removes, enables and disables. */
  follow(registration: Registration, key: string, member: 'name' | 'uri') {
    const { registered } = registration;
    const update = registered.update.bind(registered);
    this.entries[key] = registration;
    registered.update = (updates) => {
      registration.update(update, updates);
      const { [member]: renamed } = updates;
      if (renamed === undefined || renamed === key) return;
      delete this.entries[key];
      if (!renamed) return;
      this.entries[renamed] = registration;
      // The SDK forgets the first name of a tool alone. It removes anything else under that name, and keeps later names.
      if (registered.executor) key = renamed;
    };
    return registered;
  }
}

function watchCallback(callback: Callback): Callback {
  return (...args) => {
    const ctx = args.at(-1) as ServerContext;
    const runPlain = async () => {
      const call = findCall(ctx);
      if (call) publish('mrtr:handler', { call: call.id, target: call.target, part: 'handler' });
      return requireResult('registered', await callback(...args));
    };
    return runHandler(ctx, callback, shapeOf(callback) ? () => callback(...args) : runPlain);
  };
}
