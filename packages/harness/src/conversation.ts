/** One logical call, from a real client to a running server, with everything that can be seen of it. */
import type { Option } from '@mrtr/contract';
import type { CallToolResult, LegacyPolicy } from '@mrtr/core';
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
export type HostingKind = 'memory' | 'fleet' | 'restart';

/** What can be run: an option, or a demo in an option's form. */
export type Subject = Pick<Option, 'id' | 'title' | 'create'>;

/** What to run. */
export interface ConversationRequest {
  readonly subject: Subject;
  readonly client: ClientKind;
  readonly hosting: HostingKind;
  readonly legacy: LegacyPolicy;
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
  readonly user: User;
  /** Called with each event as it happens, for whoever draws while the user is still thinking. */
  readonly onEvent?: ((event: TranscriptEvent) => void) | undefined;
}

/** What was seen. */
export interface Conversation {
  readonly transcript: Transcript;
  /** The final result, or, where the call ended in a JSON-RPC or client error, that error's message. */
  readonly result: CallToolResult | undefined;
  readonly error: string | undefined;
  /** The most frames that any instance held in memory while the user was thinking. */
  readonly framesHeld: number;
}
