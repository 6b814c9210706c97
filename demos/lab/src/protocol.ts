/** What the lab's server and its page say to each other. Types alone: the page imports nothing else of the server. */
import type { Transcript } from '@mrtr/harness/transcript';
import type { ListedOption } from '@mrtr/options-list';
import type { Fault, InstanceId, SetUp, ToolWord } from './commands.ts';

export type { Command, Fault, InstanceId, SetUp, ToolWord } from './commands.ts';

export type SideName = 'left' | 'right';

export type Conversation = Omit<Transcript, 'end'> & Partial<Pick<Transcript, 'end'>>;

export interface Inside {
  /** Whether it is sealed; otherwise `payload` is all that there is, and anybody can write it. */
  readonly sealed: boolean;
  readonly round?: number;
  readonly call?: string;
  readonly expiresAt?: number;
  readonly asked?: readonly (readonly [key: string, digest: string])[];
  readonly payload?: string;
}

export type Insides = Readonly<Record<string, Inside>>;

export interface Recording {
  /** Such as `b.two`. */
  readonly id: string;
  readonly about: string;
  readonly transcript: Transcript;
  readonly insides: Insides;
}

export interface MeasuredCell {
  /** Such as `once`. */
  readonly answer: string;
  /** What was counted. */
  readonly text: string;
  /** Set where a reader should beware. */
  readonly bad?: boolean;
  readonly proofs: readonly string[];
}

export interface Recordings {
  /** The questions. */
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly option: string;
    readonly name: string;
    readonly title: string;
    readonly cells: readonly MeasuredCell[];
  }[];
  readonly about: Readonly<Record<string, string>>;
  readonly missing: Readonly<Record<string, string>>;
}

export interface Asked {
  readonly id: number;
  readonly message: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface Offered extends Pick<ListedOption, 'id' | 'name' | 'title' | 'needsPostgres'> {
  /** The author's file of each tool; without the tools that it is not written for. */
  readonly files: Readonly<Partial<Record<ToolWord, string | undefined>>>;
  /** Whether it has the tool with a version 2, whose code is no author's. */
  readonly hasVersions: boolean;
}

export interface SideState {
  readonly offered: readonly Offered[];
  readonly setUp: SetUp;
  readonly doing: 'starting' | 'ready' | 'calling' | 'asked' | 'over';
  readonly instances: readonly { readonly id: InstanceId; readonly alive: boolean }[];
  /** Without events before the first call. */
  readonly conversation: Conversation;
  readonly asked?: Asked | undefined;
  readonly fault: Fault;
  readonly insides: Insides;
  readonly problem?: string | undefined;
}

export interface Change {
  readonly side: SideName;
  readonly state: SideState;
}
