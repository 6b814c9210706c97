/** What the matrix and the demos run, and on what: options, demos in an option's form, and servers of other origins. */
import type { LegacyPolicy, McpServer, RequestStatePolicy } from '@mrtr/core';
import type {
  ClientKind,
  LocalHostingKind,
  ConversationRequest as Request,
  ServerInstance,
} from '@mrtr/harness';
import type { Claims, OptionDeps } from '@mrtr/tools';

/** Something to run. */
export interface Subject {
  readonly id: string;
  readonly title: string;
  create(deps: OptionDeps): ServerInstance;
}

/** A subject with claims to be measured. Every option is one. */
export interface Measured extends Subject {
  /** Its name in tables, where that is not its `id` in capitals. */
  readonly name?: string | undefined;
  readonly claims: Claims;
}

/** A client of the harness; or `mute`, a modern one that did not declare elicitation. */
export type Client = ClientKind | 'mute';

/**
 * Processes of their own. `stdio`: one that belongs to the connection. `http`: one that listens, with a session for
 * each old client. `processes`: three that listen and hold nothing, behind a proxy.
 */
export type ProcessHostingKind = 'stdio' | 'http' | 'processes';

/** Where a subject runs: in this process, or in processes of its own. */
export type HostingKind = LocalHostingKind | ProcessHostingKind;

/** Whether an old client has a connection of its own there, over which it can be asked. */
export const isHeld = (hosting: HostingKind): boolean =>
  hosting === 'memory' || hosting === 'stdio' || hosting === 'http';

/** Whether a call's rounds reach different instances there. */
export const isSpread = (hosting: HostingKind): boolean => hosting === 'fleet' || hosting === 'processes';

/** A call of a subject. */
export interface ConversationRequest extends Omit<Request, 'client' | 'participants'> {
  readonly subject: Subject;
  readonly client: Client;
  readonly hosting: HostingKind;
  readonly legacy: LegacyPolicy;
}

/** A subject out of a server that keeps nothing between two requests. */
export const standalone = (
  id: string,
  title: string,
  createServer: (policy: RequestStatePolicy) => McpServer,
): Subject => ({ id, title, create: ({ state }) => ({ server: () => createServer(state) }) });

/** The same subject, with its calls in the database at `postgres`. */
export const onPostgres = <Of extends Subject>(subject: Of, postgres: string): Of => ({
  ...subject,
  create: (deps: OptionDeps) => subject.create({ ...deps, postgres }),
});
