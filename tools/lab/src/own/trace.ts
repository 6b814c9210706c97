/** What the lab and its preload tell each other. */
import type { LinesRun, SourceLine } from '@mrtr/harness/transcript';

/** The variable of the environment that holds what is {@link Given} to the preload. */
export const TRACE = 'MRTR_LAB_TRACE';

/** How many characters of a project are traced: a breakpoint at every place of more would take seconds. */
export const MAX_TRACED = 400_000;

/** The most files that a server may name as loaded. */
export const MAX_FILES = 300;

export interface Given {
  readonly port: number;
  readonly token: string;
  /** The absolute path of the one file to trace. Default: every file of the project. */
  readonly source?: string | undefined;
  /** The folder of the author's project. Files outside it, or in `node_modules`, are not the author's. */
  readonly root: string;
}

export interface Taken {
  readonly lines?: { readonly files: LinesRun; readonly order: readonly SourceLine[] } | undefined;
  /** The author's files that were loaded, by their path from the root. */
  readonly loaded: readonly string[];
}
