/** What the process that observes and the processes that it observes say to each other. */
import type { LegacyPolicy } from '@mrtr/core';
import type { Diagnostic } from '@mrtr/harness';
import type { ResolutionKind, WorkItem } from '@mrtr/tools';

/** Where another process finds a subject: the URL of a module, and the name that it exports the subject under. */
export interface SubjectModule {
  readonly module: string;
  readonly name: string;
  /** What the subject looks for in its environment. A process on stdio inherits none of ours. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** What an instance is told to serve. A scope is one conversation's: its world, and its recorder. */
export interface Opening extends SubjectModule {
  readonly scope: string;
  /** The request-state key, in base64. */
  readonly key: string;
  readonly legacy: LegacyPolicy;
  /** `sessions` and `stateless` over HTTP, each opening on a port of its own; or the process's stdio. */
  readonly serve: 'sessions' | 'stateless' | 'stdio';
}

/** What an instance can be told. */
export type InstanceMethods = {
  /** Resolves with the address, where there is one. */
  readonly open: (opening: Opening) => Promise<string | undefined>;
  readonly close: (scope: string) => Promise<void>;
  readonly framesHeld: (scope: string) => number;
};

interface Scoped {
  readonly scope: string;
}

/** What an instance asks of the database, and what it tells the observer. */
export type DatabaseMethods = {
  /** Says which spawned process this is. */
  readonly hello: (name: string) => void;
  readonly diagnostic: (params: Scoped & { readonly diagnostic: Diagnostic }) => void;
  readonly record: (params: Scoped & { readonly entry: string }) => Promise<void>;
  readonly find: (params: Scoped & { readonly id: number }) => Promise<WorkItem | undefined>;
  readonly setState: (
    params: Scoped & { readonly id: number; readonly state: 'Active' },
  ) => Promise<WorkItem>;
  readonly resolve: (
    params: Scoped & {
      readonly id: number;
      readonly resolution: ResolutionKind;
      readonly original?: number | undefined;
    },
  ) => Promise<WorkItem>;
};

/** The environment variable that tells a spawned process where the database listens, and what it is called there. */
export const DATABASE_VARIABLE = 'MRTR_HARNESS_DATABASE';
