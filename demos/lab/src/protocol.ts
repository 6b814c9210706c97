/** What the lab's server and its page say to each other. Types alone: the page imports nothing else of the server. */
import type { Transcript } from '@mrtr/harness/transcript';
import type { Fault, InstanceId, SetUp } from './commands.ts';

export type { Command, Fault, InstanceId, SetUp, ToolWord } from './commands.ts';

/** One of the two shapes that are compared. */
export type SideName = 'left' | 'right';

/** A transcript that may still be going on. */
export type Conversation = Omit<Transcript, 'end'> & Partial<Pick<Transcript, 'end'>>;

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
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly option: string;
    readonly name: string;
    readonly title: string;
    /** One for each column. */
    readonly cells: readonly Measured[];
  }[];
  /** Every recording's id, with what it shows. */
  readonly about: Readonly<Record<string, string>>;
  /** Options that were not recorded, with the reason. */
  readonly missing: Readonly<Record<string, string>>;
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
  readonly instances: readonly { readonly id: InstanceId; readonly alive: boolean }[];
  /** Without events before the first call. */
  readonly conversation: Conversation;
  readonly asked?: Asked | undefined;
  readonly way: Fault;
  readonly insides: Insides;
  /** Why the latest command did nothing. */
  readonly problem?: string | undefined;
}

/** One line of the stream that the server sends: a side that changed. */
export interface Change {
  readonly side: SideName;
  readonly state: SideState;
}
