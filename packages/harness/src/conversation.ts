/** One logical call, from a real client to a running server, with everything that can be seen of it. */

import type { CompleteResult, LegacyPolicy, ListRootsResult } from '@mrtr/core';
import type { Option, OptionDeps, RunningOption } from '@mrtr/tools';
import type { Model } from './model.ts';
import type { Transcript, TranscriptEvent } from './transcript.ts';
import type { User } from './user.ts';

/**
 * The client. `modern`: the SDK's v2 client at 2026-07-28. `modern-only`: the same, pinned, refusing to fall back.
 * `mute`: the same, without the elicitation capability. `legacy`: the published v1 SDK's client at 2025-11-25.
 */
export type ClientKind = 'modern' | 'modern-only' | 'mute' | 'legacy';

/**
 * Where the server runs. `memory`: one instance in this process, without a socket; an old client has a connection
 * of its own. `fleet`: three instances behind a round-robin, stateless, sharing nothing but the key and the
 * database. `restart`: one instance that is thrown away and started anew before every request.
 */
export type LocalHostingKind = 'memory' | 'fleet' | 'restart';

/**
 * Where the server runs, in processes of its own. `stdio`: one that belongs to the connection. `http`: one that
 * listens, with a session for each old client. `processes`: three that listen and hold nothing, behind a proxy.
 */
export type ProcessHostingKind = 'stdio' | 'http' | 'processes';

/** Where the server runs. */
export type HostingKind = LocalHostingKind | ProcessHostingKind;

/** Whether an old client has a connection of its own there, over which it can be asked. */
export const isHeld = (hosting: HostingKind): boolean =>
  hosting === 'memory' || hosting === 'stdio' || hosting === 'http';

/** Whether a call's rounds reach different instances there. */
export const isSpread = (hosting: HostingKind): boolean => hosting === 'fleet' || hosting === 'processes';

/** What can be run: an option, a demo in an option's form, or a server that brings its own hosting. */
export type Subject = Pick<Option, 'id' | 'title'> & {
  create(deps: OptionDeps & { readonly onEntry?: () => void }): RunningOption | SelfHosted;
};

/** A server that our contract does not know, such as one on an old SDK: only its HTTP face can be seen. It tells by
 * `onEntry` when the author's function is entered. */
export interface SelfHosted {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** What is called: one of the three requests that a server may answer with a question. */
export type LogicalCall =
  | { readonly method: 'tools/call'; readonly params: Named<unknown> }
  | { readonly method: 'prompts/get'; readonly params: Named<string> }
  | { readonly method: 'resources/read'; readonly params: { readonly uri: string } };

interface Named<Value> {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, Value>>;
}

/** One of the client's roots. */
export type Root = ListRootsResult['roots'][number];

/** What to run. */
export interface ConversationRequest {
  readonly subject: Subject;
  readonly client: ClientKind;
  readonly hosting: HostingKind;
  readonly legacy: LegacyPolicy;
  readonly call: LogicalCall;
  readonly user: User;
  /** A client without a model does not declare `sampling`. */
  readonly model?: Model | undefined;
  /** A client without roots does not declare `roots`. */
  readonly roots?: readonly Root[] | undefined;
  /** Called with each event as it happens, for whoever draws while the user is still thinking. */
  readonly onEvent?: ((event: TranscriptEvent) => void) | undefined;
}

/** What was seen. */
export interface Conversation {
  readonly transcript: Transcript;
  /** The final result, or, where the call ended in a JSON-RPC or client error, that error's message. */
  readonly result: CompleteResult | undefined;
  readonly error: string | undefined;
  /** The most frames that any instance held in memory while the user was thinking. */
  readonly framesHeld: number;
}
