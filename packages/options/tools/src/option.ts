/**
 * The contract between an option, which puts the two example tools on the protocol in one handler shape, and
 * whatever runs options: the harness, the demos, the tests. Types, and the one identity that all share.
 */
import type { McpServer, RequestStatePolicy } from '@mrtr/core';
import type { GET_WEATHER, RESOLVE_WORK_ITEM } from './tools.ts';
import type { World } from './world.ts';

/** Every option announces itself the same, so that nothing but the shape can differ on the wire. */
export const SERVER_INFO = { name: 'mrtr-shapes', version: '0.0.0' };

/** One of the two example tools. */
export type ToolName = typeof GET_WEATHER | typeof RESOLVE_WORK_ITEM;

/** What an option is given. */
export interface OptionDeps {
  readonly world: World;
  /** How request state is protected, and (`legacy`) what old clients get. */
  readonly state: RequestStatePolicy;
  /** This instance's name, as the router in front of it knows it. Only a shape that parks frames tells it. */
  readonly instance?: string | undefined;
}

/** One handler shape, ready to run. */
export interface Option {
  /** A letter, or a letter and a variant. */
  readonly id: string;
  /** What tables call it, where that is not its `id` in capitals. */
  readonly name?: string | undefined;
  /** The shape's name, in a word or two. */
  readonly title: string;
  readonly claims: Claims;
  create(deps: OptionDeps): RunningOption;
}

/** An option at work: what one server instance of a deployment is. */
export interface RunningOption {
  /** A new server with both tools; called per request on stateless hosting, per connection elsewhere. */
  server(): McpServer;
  /** Handlers parked in this instance's memory now. Absent where the shape parks none. */
  readonly framesHeld?: () => number;
  /** Releases whatever outlives a request. */
  close(): Promise<void>;
}

/**
 * When the audit entry of `get_weather` is written. `after-answer`: once, when the user has answered.
 * `before-asking`: once, whatever the user says. `every-entry`: each time the handler is entered.
 */
export type AuditClaim = 'after-answer' | 'before-asking' | 'every-entry';

/** How often the author's function is entered: once a call, or once a round. */
export type EntryClaim = 'once' | 'every-round';

/** What we say of an option. The matrix measures all of it and fails on a difference. */
export interface Claims {
  /** On a client at 2026-07-28. */
  readonly modern: {
    readonly entries: EntryClaim;
    readonly audit: AuditClaim;
    /** Length of each round's sealed `requestState`, 0 for none: metric, and Duplicate of #4301. */
    readonly stateBytes: Readonly<Record<ToolName, readonly number[]>>;
    /** Frames held in memory while the user thinks. */
    readonly framesHeld: 0 | 1;
    /** What becomes of a call whose next round reaches another instance, or the same one after a restart. */
    readonly otherInstance: 'finishes' | 'refused';
    readonly restart: 'finishes' | 'refused';
    /** What becomes of a call whose process is killed (SIGKILL) while its user thinks, on any other with the key. */
    readonly afterKill: 'finishes' | 'refused';
    /** What a client that declared no elicitation gets. */
    readonly unaskable: 'default' | 'error';
  };
  /** On a client at 2025-11-25. */
  readonly legacy: {
    readonly entries: EntryClaim;
    readonly audit: AuditClaim;
    /** On a held connection: always asked, or asked only where the policy is `shim`. */
    readonly asked: 'always' | 'by-policy';
    /** On stateless serving, where nobody can be asked. */
    readonly stateless: 'default' | 'error';
    /** What becomes of a call whose process is killed while its user thinks: its connection was all that held it. */
    readonly afterKill: 'lost';
  };
}
