/** What the lab's server and its page say to each other. Types alone: the page imports nothing else of the server. */
import type { Reply } from '@mrtr/harness';
import type { Participant, Transcript, TranscriptEvent } from '@mrtr/harness/transcript';
import type { Change as CodeChange } from '@mrtr/option';

/** One of the two shapes that are compared. */
export type SideName = 'left' | 'right';

/** What is run on a side. */
export interface SetUp {
  /** The option's id, such as `b`. */
  readonly option: string;
  readonly tool: ToolWord;
  readonly client: ClientWord;
  /** `one` keeps a session for each old client; `two` keep nothing, and take turns. */
  readonly instances: 'one' | 'two';
  /** Whether a state that was presented is served again. */
  readonly singleUse: boolean;
}

/** The tools of the options; and one that has a version 2, which can be deployed while a question is open. */
export type ToolWord = 'weather' | 'work-item' | 'order';
export type ClientWord = 'modern' | 'legacy' | 'mute';

/** A transcript that may still be going on. */
export interface Conversation extends Pick<Transcript, 'format' | 'version' | 'title'> {
  readonly participants: readonly Participant[];
  readonly events: readonly TranscriptEvent[];
  readonly end?: Transcript['end'];
}

/** What the lab's key shows inside a state. */
export interface Inside {
  /** Whether it is sealed; otherwise `payload` is all that there is, and anybody can write it. */
  readonly sealed: boolean;
  readonly round?: number;
  /** The call's id. */
  readonly call?: string;
  readonly expiresAt?: number;
  /** The questions that went out with it, with the digest of each. */
  readonly asked?: readonly (readonly [key: string, digest: string])[];
  /** What the shape keeps from round to round. */
  readonly payload?: string;
}

/** What the lab's key shows, by state. */
export type Insides = Readonly<Record<string, Inside>>;

/** One recorded conversation. */
export interface Recording {
  /** Such as `b.two`. */
  readonly id: string;
  /** What it shows, in a few words. */
  readonly about: string;
  readonly setUp: SetUp;
  readonly transcript: Transcript;
  readonly insides: Insides;
}

/** One cell of the measured table. */
export interface Measured {
  readonly text: string;
  /** Set where a reader should beware. */
  readonly bad?: boolean;
  /** The recordings that prove it. */
  readonly proofs: readonly string[];
}

/** The measured table, and what was recorded. */
export interface Recordings {
  readonly columns: readonly { readonly id: string; readonly title: string; readonly explains: string }[];
  readonly rows: readonly {
    readonly option: string;
    readonly name: string;
    readonly title: string;
    readonly cells: Readonly<Record<string, Measured>>;
  }[];
  /** Every recording's id, with what it shows. */
  readonly about: Readonly<Record<string, string>>;
  /** Options that were not recorded, with the reason. */
  readonly missing: Readonly<Record<string, string>>;
}

/** What the network does to the next request of a call. */
export interface Fault {
  /** The instance that gets it; undefined for the one whose turn it is. */
  readonly to?: string | undefined;
  readonly deliver: 'once' | 'twice' | 'lose-answer';
  /** Replaces the request's state. */
  readonly state?: string | undefined;
  /** Adds an answer to a question that may not have been asked. */
  readonly unasked?:
    | { readonly key: string; readonly content: Readonly<Record<string, unknown>> }
    | undefined;
}

/** A question that waits for the person. */
export interface Asked {
  readonly id: number;
  readonly message: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Everything about one side. */
export interface SideState {
  readonly setUp: SetUp;
  readonly doing: 'starting' | 'ready' | 'calling' | 'asked' | 'over';
  readonly instances: readonly { readonly id: string; readonly alive: boolean }[];
  readonly conversation?: Conversation | undefined;
  readonly asked?: Asked | undefined;
  readonly way: Fault;
  readonly insides: Insides;
  /** Why the latest command did nothing. */
  readonly problem?: string | undefined;
}

/** A command. It names a side, and where it needs one an instance of that side. */
export type Command =
  | { readonly do: 'set-up'; readonly side: SideName; readonly setUp: SetUp }
  | { readonly do: 'call'; readonly side: SideName }
  | { readonly do: 'answer'; readonly side: SideName; readonly question: number; readonly reply: Reply }
  | { readonly do: 'way'; readonly side: SideName; readonly way: Fault }
  | { readonly do: 'kill' | 'restart'; readonly side: SideName; readonly instance: string }
  | { readonly do: 'deploy'; readonly side: SideName; readonly change: CodeChange };

/** One line of the stream that the server sends: a side that changed. */
export interface Change {
  readonly side: SideName;
  readonly state: SideState;
}
