/** The calls between the observing process and the observed processes. */

import type { ResolutionKind, WorkItem } from '@mrtr/comparison';
import type { LegacyPolicy } from '@mrtr/core';
import type { StateLedger } from '@mrtr/core/seal';
import type { Diagnostic } from '@mrtr/harness';

export interface SubjectModule {
  readonly module: string;
  /** Default `option`. */
  readonly name?: string | undefined;
  /** The connection string of the database of calls, for a subject that needs one. */
  readonly postgres?: string | undefined;
}

/** One conversation in one instance: names its world and recorder, and the instance in the transcript. */
export interface InstanceAddress {
  readonly scope: string;
  readonly instance: string;
}

export interface Opening extends SubjectModule {
  /** The request-state key, in base64. */
  readonly key: string;
  readonly legacy: LegacyPolicy;
  readonly version?: string | undefined;
  /** How to serve old clients, each on its own port. */
  readonly serve: 'sessions' | 'stateless';
  /** `shared`: all instances use the ledger of the observing process. Default: each has its policy's own. */
  readonly singleUse?: 'shared' | false | undefined;
  /** Counts the lines of the author's files that run. One conversation at a time, since the trace is process-wide. */
  readonly countLines?: boolean | undefined;
}

export interface InstanceMethods {
  open(place: InstanceAddress, opening: Opening): Promise<string>;
  close(scope: string): Promise<void>;
  framesHeld(scope: string): number;
}

/** One ledger serves all conversations, since the ids of tokens are unique. */
export interface DatabaseMethods extends StateLedger {
  hello(): void;
  diagnostic(place: InstanceAddress, diagnostic: Diagnostic): void;
  record(place: InstanceAddress, entry: string): Promise<void>;
  find(place: InstanceAddress, id: number): Promise<WorkItem | undefined>;
  setState(place: InstanceAddress, id: number, state: 'Active'): Promise<WorkItem>;
  resolve(
    place: InstanceAddress,
    id: number,
    resolution: ResolutionKind,
    original?: number,
  ): Promise<WorkItem>;
}
