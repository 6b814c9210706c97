/** The calls between the process that measures and the processes that serve. */

import type { World } from '@mrtr/comparison';
import type { RequestStateOptions } from '@mrtr/core';
import type { StateLedger } from '@mrtr/core/seal';
import type { Diagnostic } from '@mrtr/harness/internal';

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
  readonly legacy: NonNullable<RequestStateOptions['legacy']>;
  readonly version?: string | undefined;
  /** How to serve old clients, each on its own port. */
  readonly serve: 'sessions' | 'stateless';
  /** `shared`: all instances use the ledger of the measuring process. Default: each has its policy's own. */
  readonly singleUse?: 'shared' | false | undefined;
  /** Counts the lines of the author's files that run. One conversation at a time, since the trace is process-wide. */
  readonly countLines?: boolean | undefined;
}

export interface InstanceMethods {
  open(place: InstanceAddress, opening: Opening): Promise<string>;
  close(scope: string): Promise<void>;
  framesHeld(scope: string): number;
}

/** The functions of a world that reach its database. */
type Reaching = Pick<World['audit'], 'record'> & Pick<World['items'], 'find' | 'setState' | 'resolve'>;

/** One ledger serves all conversations, since the ids of tokens are unique. Each conversation has its own world. */
export type DatabaseMethods = StateLedger & {
  hello(): void;
  diagnostic(place: InstanceAddress, diagnostic: Diagnostic): void;
} & {
  [Name in keyof Reaching]: (
    place: InstanceAddress,
    ...given: Parameters<Reaching[Name]>
  ) => ReturnType<Reaching[Name]>;
};
