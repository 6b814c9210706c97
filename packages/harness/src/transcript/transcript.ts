/**
 * The transcript of one logical call: plain JSON, in the order in which things happened, from every point of view that
 * can be observed. `transcript.schema.json` of this package is the same as a JSON schema.
 */
import type { CreateMessageRequest, CreateMessageResult } from '@modelcontextprotocol/client';
import type { CallResult, Era, Reply, Root } from './call.ts';

/** One conversation, whole. */
export interface Transcript {
  readonly format: 'mrtr-transcript';
  /** Changes when a reader of the previous version could misread this one. */
  readonly version: 1;
  readonly title: string;
  /** Who takes part. Events name them by `id`. */
  readonly participants: readonly Participant[];
  readonly events: readonly TranscriptEvent[];
  readonly end: End;
}

/** Somebody or something that takes part. */
export type Participant =
  | { readonly id: string; readonly kind: 'instance' | 'store' | 'world'; readonly label: string }
  | {
      readonly id: string;
      readonly kind: 'person';
      readonly label: string;
      /** Set where a program answers in the place of a person. */
      readonly isAgent?: true;
    }
  | {
      readonly id: string;
      readonly kind: 'client';
      readonly label: string;
      /** The era that the call was made in: a modern client falls back at an old server. */
      readonly era: Era;
      /** The name that the client tells the server. */
      readonly name: string;
    };

/** How the call ended for the client: with a result, or with an error of the protocol or of the client's own. */
export type End =
  | { readonly result: CallResult; readonly error?: undefined }
  | { readonly result?: undefined; readonly error: CallError };

/** Why a call has no result. */
export interface CallError {
  readonly message: string;
  /** The JSON-RPC code, where the server answered with an error. */
  readonly code?: number;
}

/** One JSON-RPC message, as it is on the wire. */
export type WireMessage = Readonly<Record<string, unknown>>;

/** Which part of the author's code ran: the whole handler, or where a shape has parts, one of them. */
export type EntryPart = 'handler' | 'step' | 'end' | 'resolver' | 'body';

/** The lines that ran, by file. */
export type LinesRun = Readonly<Record<string, Lines>>;

/**
 * How often each line of a file ran, by its number from 1. Where parts of a line differ, the first column of each part,
 * from 1, with its count: `{ "11": [[5, 1], [29, 0]] }`. A line that did not run is left out.
 */
export type Lines = Readonly<Record<string, number | readonly (readonly [column: number, count: number])[]>>;

/** A line of a source file. */
export type Place = readonly [file: string, line: number];

/** One thing that happened. */
export type TranscriptEvent = Happening & {
  /** When it happened, in milliseconds since the call began. */
  readonly at: number;
};

/** What happened: a {@link TranscriptEvent} without its time. */
export type Happening =
  | Message
  | Question
  /** The person reacted to a question. */
  | {
      readonly kind: 'answer';
      readonly from: string;
      readonly id: number;
      readonly reply: Reply;
    }
  /** The person's browser got a page, or was sent on by one. */
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
  /** The author's code was entered. */
  | {
      readonly kind: 'entry';
      readonly instance: string;
      readonly part: EntryPart;
      readonly name?: string;
    }
  /** Lines of the author's files ran: since the entry before this, or where none was, in a handler that was parked. */
  | {
      readonly kind: 'lines';
      readonly instance: string;
      readonly files: LinesRun;
      /** The lines in the order in which they ran, each once where it ran several times in a row. At most 2 000. */
      readonly order?: readonly Place[];
    }
  /** A guarded effect (`once`) ran, or was skipped because an earlier round had run it. */
  | {
      readonly kind: 'guard';
      readonly instance: string;
      readonly key: string;
      readonly phase: 'ran' | 'skipped';
    }
  /** Something changed in the world, such as an audit entry or a write. */
  | { readonly kind: 'effect'; readonly instance: string; readonly name: string; readonly detail: string }
  /** Request state was sealed, opened, rejected, or answered as before (`replayed`). */
  | {
      readonly kind: 'state';
      readonly instance: string;
      readonly phase: 'sealed' | 'opened' | 'rejected' | 'replayed';
      readonly bytes: number;
      /** Why it was rejected. Clients are not told. */
      readonly reason?: string;
    }
  /** An instance was killed. */
  | { readonly kind: 'kill'; readonly instance: string }
  /** An instance was thrown away and started anew. */
  | {
      readonly kind: 'restart';
      readonly instance: string;
      /** What a deploy changed, where the new instance runs another version of the code. */
      readonly deployed?: string;
    };

/** A message was sent. */
export interface Message {
  readonly kind: 'message';
  readonly from: string;
  /** Absent where the message reached nobody. */
  readonly to?: string;
  readonly message: WireMessage;
  /** Set where the send failed, or the message never arrived. */
  readonly lost?: true;
  /** Set where somebody on the way kept it back, and sent the next message in its place. It is `lost` too. */
  readonly replaced?: true;
  /** Set where somebody on the way wrote it in place of the one before, which is `replaced`. */
  readonly altered?: true;
  /** Set where the network delivered the one before once more. */
  readonly again?: true;
}

/** The person was shown a question. */
export interface Question {
  readonly kind: 'question';
  readonly to: string;
  /** 1 for the first question of the call. */
  readonly id: number;
  readonly message: string;
  /** The form, as a JSON schema. Empty where a page is to be opened. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly url?: string;
  /** The question's key among the `inputRequests`, where the server gave it one. */
  readonly key?: string;
  /** Handlers that all instances together hold parked in memory while the person thinks. */
  readonly framesHeld: number;
}

/** The id of the person at the client. */
export const PERSON = 'person';
/** The id of the client. Instances have ids of their own. */
export const CLIENT = 'client';
/** The id of the world that effects happen in, where it is a participant. */
export const WORLD = 'world';
