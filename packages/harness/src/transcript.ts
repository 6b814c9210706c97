/** What happened in one logical call, in order, from every point of view that can be watched from outside. */
import type { CreateMessageRequest, CreateMessageResult, StateEvent } from '@mrtr/core';
import type { WorkItem } from '@mrtr/tools';
import type { Root } from './conversation.ts';
import type { Reply, ShownQuestion } from './user.ts';

/** One JSON-RPC message, as it is. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** One thing that happened. */
export type TranscriptEvent =
  /** A message was sent, recorded at the transport seam after the send had succeeded. */
  | { readonly kind: 'wire'; readonly from: 'client' | 'server'; readonly message: WireMessage }
  /** The host application showed a question and its user reacted. */
  | { readonly kind: 'user'; readonly question: ShownQuestion; readonly reply: Reply }
  /** The host application had its model say something. */
  | {
      readonly kind: 'model';
      readonly params: CreateMessageRequest['params'];
      readonly result: CreateMessageResult;
    }
  /** The host application listed its roots. */
  | { readonly kind: 'roots'; readonly roots: readonly Root[] }
  /** The author's function was entered. */
  | { readonly kind: 'entry' }
  /** A guarded effect ran, or was held back because an earlier round had run it. */
  | { readonly kind: 'effect'; readonly key: string; readonly phase: 'ran' | 'held' }
  /** An audit entry was written. */
  | { readonly kind: 'audit'; readonly entry: string }
  /** A work item was written. */
  | { readonly kind: 'write'; readonly item: WorkItem }
  /** Request state was sealed, opened or rejected. */
  | { readonly kind: 'state'; readonly phase: StateEvent['phase']; readonly bytes: number };

/** The events of one logical call. */
export type Transcript = readonly TranscriptEvent[];
