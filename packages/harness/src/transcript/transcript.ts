/**
 * The transcript of one logical call: plain JSON, in order, as seen by the person, the client, the wire and the server.
 * `transcript.schema.json` of this package is its JSON schema.
 */
import type { CreateMessageRequest, CreateMessageResult } from '@modelcontextprotocol/client';
import type { CallResult, Era, Reply, Root } from './call.ts';

/** A complete conversation. */
export interface Transcript {
  readonly format: 'mrtr-transcript';
  /** Changes when a reader of the previous version could misread this one. */
  readonly version: 1;
  readonly title: string;
  /** The participants. Events name them by `id`. */
  readonly participants: readonly Participant[];
  readonly events: readonly TranscriptEvent[];
  readonly end: End;
}

export type Participant = { readonly id: string; readonly label: string } & (
  | { readonly kind: 'instance' | 'store' | 'world' }
  | {
      readonly kind: 'person';
      /** Set if a program answers instead of a person. */
      readonly isAgent?: true;
    }
  | {
      readonly kind: 'client';
      /** The negotiated era: a modern client falls back at an old server. */
      readonly era: Era;
      /** The name that the client sends to the server. */
      readonly name: string;
    }
);

/** The end of the call for the client: a result, or an error of the protocol or of the client itself. */
export type End =
  | { readonly result: CallResult; readonly error?: undefined }
  | { readonly result?: undefined; readonly error: CallError };

/** The error of a call without a result. */
export interface CallError {
  readonly message: string;
  /** The JSON-RPC code, if the server answered with an error. */
  readonly code?: number;
}

/** One JSON-RPC message, as it is on the wire. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** The part of the author's code that ran: the whole handler, or one part in a shape that has parts. */
export type EntryPart = 'handler' | 'step' | 'end' | 'resolver' | 'body';

/** The lines that ran, by file. */
export type LinesRun = Readonly<Record<string, Lines>>;

/**
 * The count of each line that ran, by its number from 1. If parts of a line differ, the first column of each part, from 1,
 * with its count: `{ "11": [[5, 1], [29, 0]] }`.
 */
export type Lines = Readonly<Record<string, number | readonly (readonly [column: number, count: number])[]>>;

/** A line of a source file. */
export type SourceLine = readonly [file: string, line: number];

export type TranscriptEvent = Happening & {
  /** The time, in milliseconds since the call began. */
  readonly at: number;
};

/** A {@link TranscriptEvent} without its time. */
export type Happening =
  | Message
  | QuestionEvent
  /** The person reacted to a question. */
  | {
      readonly kind: 'answer';
      readonly from: string;
      readonly id: number;
      readonly reply: Reply;
    }
  /** The person's browser received a page or a redirect. */
  | { readonly kind: 'visit'; readonly from: string; readonly url: string; readonly status: number }
  /** The client's model answered a `sampling/createMessage`. */
  | {
      readonly kind: 'model';
      readonly params: CreateMessageRequest['params'];
      readonly result: CreateMessageResult;
      readonly framesHeld: number;
    }
  /** The client listed its roots. */
  | { readonly kind: 'roots'; readonly roots: readonly Root[]; readonly framesHeld: number }
  | (Inside & { readonly instance: string });

/** A happening inside an instance. */
type Inside =
  /** The author's code began to run. */
  | {
      readonly kind: 'entry';
      readonly part: EntryPart;
      readonly name?: string;
    }
  /** Lines of the author's files ran: since the previous entry, or in a handler that was parked. */
  | {
      readonly kind: 'lines';
      readonly files: LinesRun;
      /** The lines in order, without immediate repetitions. At most 2 000. */
      readonly order?: readonly SourceLine[];
    }
  /** A guarded effect (`once`) ran, or was skipped because an earlier round had run it. */
  | {
      readonly kind: 'guard';
      readonly key: string;
      readonly phase: 'ran' | 'skipped';
    }
  /** An effect in the world, such as an audit entry or a write. */
  | {
      readonly kind: 'effect';
      readonly name: string;
      readonly detail: string;
      /** Set if it repeats an earlier effect in other words, as `23 → 24` and `24 → 25` of a counter do. */
      readonly again?: true;
    }
  /** Request state was sealed, opened, rejected, or answered as before (`replayed`). */
  | {
      readonly kind: 'state';
      readonly phase: 'sealed' | 'opened' | 'rejected' | 'replayed';
      readonly bytes: number;
      /** The reason for the rejection, which clients do not see. */
      readonly reason?: string;
    }
  /** An instance was killed. */
  | { readonly kind: 'kill' }
  /** An instance was replaced by a new one. */
  | {
      readonly kind: 'restart';
      /** The change, if the new instance runs another version of the code. */
      readonly deployed?: string;
    };

/** A message was sent. */
export interface Message {
  readonly kind: 'message';
  readonly from: string;
  /** Absent if the message reached nobody. */
  readonly to?: string;
  readonly message: WireMessage;
  /** Set if the send failed, or the message never arrived. */
  readonly lost?: true;
  /** Set if an attacker replaced it by the next message. It is also `lost`. */
  readonly replaced?: true;
  /** Set if an attacker wrote it to replace the previous message, which is `replaced`. */
  readonly altered?: true;
  /** Set if the network delivered the previous message once more. */
  readonly again?: true;
}

/** The person was shown a question. */
export interface QuestionEvent {
  readonly kind: 'question';
  readonly to: string;
  /** 1 for the first question of the call. */
  readonly id: number;
  readonly message: string;
  /** The form, as a JSON schema. Empty if the question asks to open a page. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly url?: string;
  /** The question's key in the `inputRequests`, if it has one. */
  readonly key?: string;
  /** How many handlers all instances have parked in memory while the person thinks. */
  readonly framesHeld: number;
}

/** The id of the person at the client. */
export const PERSON = 'person';
/** The id of the client. Instances have their own ids. */
export const CLIENT = 'client';
/** The id of the world of the effects, if it is a participant. */
export const WORLD = 'world';
