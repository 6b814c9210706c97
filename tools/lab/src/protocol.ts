/** The types of the messages between the lab's server and its page. */

import type { ListedOption } from '@mrtr/comparison/options';
import type { Transcript } from '@mrtr/harness/transcript';
import type { Fault } from './commands.ts';
import type { InstanceId, SetUp, SideName, ToolWord } from './set-up.ts';

export type { Command, Fault } from './commands.ts';

export type TranscriptSoFar = Omit<Transcript, 'end'> & Partial<Pick<Transcript, 'end'>>;

/** A sealed state, opened; or a plain one, which anybody can write. */
export type Inside =
  | {
      readonly sealed: true;
      readonly round: number;
      readonly call: string;
      readonly expiresAt: number;
      readonly asked: readonly (readonly [key: string, digest: string])[];
      readonly payload?: string | undefined;
    }
  | { readonly sealed: false };

export type Insides = Readonly<Record<string, Inside>>;

export interface Recording {
  /** For example `b.two`. */
  readonly id: string;
  readonly about: string;
  readonly transcript: Transcript;
  readonly insides: Insides;
}

export interface MeasuredCell {
  /** For example `once`. */
  readonly answer: string;
  /** The counted values. */
  readonly text: string;
  /** Set for a warning. */
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
  /** The author's file of each tool that the option has. */
  readonly files: Readonly<Partial<Record<ToolWord, string | undefined>>>;
  /** Whether it has the tool with a version 2, which has no author's file. */
  readonly hasVersions: boolean;
}

/** A tool of a server of the user's own. */
export interface OwnTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The JSON Schema of its arguments. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Whether a call of it has asked. */
  readonly asks?: boolean;
}

/** The server that the lab was opened with. */
export interface Own {
  /** Its address, or the command that starts it. */
  readonly server: string;
  readonly tools: readonly OwnTool[];
  /** The author's file, by its path in the project. */
  readonly source?: { readonly file: string; readonly text: string } | undefined;
  /** The files that the server loaded, of which one can be shown. */
  readonly loaded: readonly string[];
  /** Why no lines are shown. */
  readonly noLines?: string | undefined;
}

export interface SideState {
  readonly offered: readonly Offered[];
  readonly own?: Own | undefined;
  readonly setUp: SetUp;
  /** A side that is `off` has no processes, and is not shown. */
  readonly doing: 'off' | 'starting' | 'ready' | 'calling' | 'asked' | 'over';
  readonly instances: readonly { readonly id: InstanceId; readonly alive: boolean }[];
  /** Has no events before the first call. */
  readonly conversation: TranscriptSoFar;
  readonly asked?: Asked | undefined;
  readonly fault: Fault;
  readonly insides: Insides;
  readonly problem?: string | undefined;
}

export interface SideChange {
  readonly side: SideName;
  readonly state: SideState;
}
