/** The calls between the observing process and the observed processes. */
import type { LegacyPolicy } from '@mrtr/core';
import type { StateLedger } from '@mrtr/core/seal';
import type { ResolutionKind, WorkItem } from '@mrtr/example-tools';
import type { Diagnostic } from '@mrtr/harness';

export interface SubjectModule {
  readonly module: string;
  /** Default `option`. */
  readonly name?: string | undefined;
  /** The connection string of the database that holds calls, for a subject that needs one. */
  readonly postgres?: string | undefined;
}

/** One conversation's part in one instance: its world and recorder, and the instance's id in the transcript. */
export interface Place {
  readonly scope: string;
  readonly instance: string;
}

export interface Opening extends SubjectModule {
  /** The request-state key, in base64. */
  readonly key: string;
  readonly legacy: LegacyPolicy;
  readonly version?: string | undefined;
  /** How old clients are served, each on its own port. */
  readonly serve: 'sessions' | 'stateless';
  /** `shared`: one ledger for all instances, the observing process's. Default: the policy's, a ledger for each. */
  readonly singleUse?: 'shared' | false | undefined;
  /** Counts the lines of the author's files that run. One conversation at a time: trace is the process's. */
  readonly countLines?: boolean | undefined;
}

export interface InstanceMethods {
  open(place: Place, opening: Opening): Promise<string>;
  close(scope: string): Promise<void>;
  framesHeld(scope: string): number;
}

/** One ledger serves all: the ids of tokens are unique. */
export interface DatabaseMethods extends StateLedger {
  hello(): void;
  diagnostic(place: Place, diagnostic: Diagnostic): void;
  record(place: Place, entry: string): Promise<void>;
  find(place: Place, id: number): Promise<WorkItem | undefined>;
  setState(place: Place, id: number, state: 'Active'): Promise<WorkItem>;
  resolve(place: Place, id: number, resolution: ResolutionKind, original?: number): Promise<WorkItem>;
}
