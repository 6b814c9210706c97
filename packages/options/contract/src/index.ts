/** `@mrtr/options-contract`: the two example tools in one shape, and the claims that the matrix measures. */
import { type McpServer, protectedServer, type RequestStatePolicy } from '@mrtr/core';
import type { SdkCallback } from '@mrtr/core/shape';
import {
  GET_WEATHER,
  type GetWeather,
  getWeatherTool,
  RESOLVE_WORK_ITEM,
  type ResolveWorkItem,
  resolveWorkItemTool,
  type ToolName,
  type World,
} from '@mrtr/example-tools';
import type { DeployClaims } from './deploys.ts';
import type { Write } from './script.ts';

export { writeGuardFirst } from './guard-first.ts';
export {
  type Data,
  endUnguarded,
  isAsk,
  questionsOf,
  runInOrder,
  type Script,
  type Write,
} from './script.ts';

/** The name and version of every option's server, so that only the shape can differ on the wire. */
export const SERVER_INFO = { name: 'mrtr-shapes', version: '0.0.0' };

/** The dependencies of an option. */
export interface OptionDeps {
  readonly world: World;
  /** The policy for request state, and (`legacy`) for old clients. */
  readonly state: RequestStatePolicy;
  /** This instance's name in the router. Only a shape that parks frames uses it. */
  readonly instance?: string | undefined;
  /** The connection string of a PostgreSQL. Only an option that stores calls there uses it. */
  readonly postgres?: string | undefined;
  /** Called when the handler is entered, by an option that publishes no diagnostics. */
  readonly onEntry?: (() => void) | undefined;
  /** Called by such an option before its result is sent. */
  readonly onExit?: (() => void) | undefined;
}

/** One shape, ready to run. */
export interface Option {
  readonly claims: Claims;
  create(deps: OptionDeps): RunningOption;
}

/** A running option: one server instance of a deployment. */
export interface RunningOption {
  /** Makes a server with both tools; called per request on stateless hosting, otherwise per connection. */
  server(): McpServer;
  /** Makes a server without the tools, for scripts. Absent if the option writes no scripts. */
  readonly serverForScripts?: (register: (server: McpServer, write: Write) => void) => McpServer;
  /** The handlers parked in this instance's memory. Absent if the shape does not park handlers. */
  readonly framesHeld?: () => number;
  /** Releases everything that outlives a request. */
  close(): Promise<void>;
}

/** The author's two handlers, as callbacks of the SDK. */
export interface Handlers extends Partial<Pick<RunningOption, 'framesHeld' | 'close'>> {
  readonly getWeather: SdkCallback<GetWeather, never> | PlainHandler<GetWeather>;
  readonly resolveWorkItem: SdkCallback<ResolveWorkItem, never> | PlainHandler<ResolveWorkItem>;
  /** Writes any script in the option's shape, for deploys and the conformance suite. */
  readonly write?: Write;
}

type PlainHandler<Input> = (input: Input, ctx: never) => Promise<unknown>;

/** The parts of a server that an option defines. */
export interface OptionParts {
  readonly claims: Claims;
  /** Makes the handlers, once per instance. */
  handlers(deps: OptionDeps): Handlers;
  /** Makes a server without tools. Default: `protectedServer`. */
  server?(deps: OptionDeps): McpServer;
}

/** Makes an option from its handlers. Registers and closes them, which is the same for all options. */
export const defineOption = ({ claims, handlers, server = buildServer }: OptionParts): Option => ({
  claims,
  create(deps) {
    const { getWeather, resolveWorkItem, write, framesHeld, close = async () => {} } = handlers(deps);
    return {
      server() {
        const registered = server(deps);
        registered.registerTool(GET_WEATHER, getWeatherTool, getWeather as never);
        registered.registerTool(RESOLVE_WORK_ITEM, resolveWorkItemTool, resolveWorkItem as never);
        return registered;
      },
      ...(write && {
        serverForScripts(register) {
          const registered = server(deps);
          register(registered, write);
          return registered;
        },
      }),
      ...(framesHeld && { framesHeld }),
      close,
    };
  },
});

const buildServer = ({ state }: OptionDeps): McpServer => protectedServer(SERVER_INFO, state);

/**
 * The time of `get_weather`'s audit entry. `after-answer`: once, after the user's answer. `before-asking`: once, before
 * the question. `every-entry`: each time the handler is entered.
 */
export type AuditClaim = 'after-answer' | 'before-asking' | 'every-entry';

/** The entries into the author's function: once a call, or once a round. */
export type EntryClaim = 'once' | 'every-round';

/** The claims of an option that keeps a whole call in sealed state, and nothing in a process. */
export const IN_STATE = {
  framesHeld: 0,
  otherInstance: 'finishes',
  restart: 'finishes',
  afterKill: 'finishes',
  forgeries: 'refused',
} as const satisfies Partial<Claims['modern']>;

/** The claims of an option. The matrix measures all of them and fails on a difference. */
export interface Claims {
  /** With a client at 2026-07-28. */
  readonly modern: {
    /** Entries into the function that holds the effects: the handler, the end step or the body. */
    readonly entries: EntryClaim;
    readonly audit: AuditClaim;
    /** Length of each round's sealed `requestState`, 0 without one, for the answers metric and Duplicate of #4301. */
    readonly stateBytes: Readonly<Record<ToolName, readonly number[]>>;
    /** Frames held in memory while the user thinks. */
    readonly framesHeld: 0 | 1;
    /** The outcome when the next round reaches another instance, or the same one after a restart. */
    readonly otherInstance: 'finishes' | 'refused';
    readonly restart: 'finishes' | 'refused';
    /**
     * The outcome when the process is killed (SIGKILL) while the user thinks, and another one with the key gets the
     * retry.
     */
    readonly afterKill: 'finishes' | 'refused';
    /** The result for a client that declared no elicitation. */
    readonly unaskable: 'default' | 'error';
    /** The treatment of an unasked answer, of another call's state, and of state sent twice. */
    readonly forgeries: 'refused' | 'taken';
  };
  /** With a client at 2025-11-25. */
  readonly legacy: {
    readonly entries: EntryClaim;
    readonly audit: AuditClaim;
    /** On a held connection: `always` asked, or asked only if the policy is `shim`. */
    readonly asked: 'always' | 'by-policy';
    /** On stateless serving, where no old client can be asked. */
    readonly stateless: 'default' | 'error';
  };
  /** The outcomes of deploys between two rounds. Absent if the option writes no scripts. */
  readonly deploys?: DeployClaims;
  /** True if the official conformance suite runs on the option; otherwise the reason why not. */
  readonly conformance: true | string;
}
