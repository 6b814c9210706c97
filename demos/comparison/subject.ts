/**
 * The subjects of the matrix and the demos (options, demos in an option's form, foreign servers), and their hosting.
 */
import type { LegacyPolicy, McpServer, RequestStatePolicy } from '@mrtr/core';
import type {
  ClientKind,
  HostedInstance,
  LocalHostingKind,
  ConversationRequest as Request,
} from '@mrtr/harness';
import type { Claims } from './claims.ts';
import type { OptionDeps } from './options.ts';

export interface Subject {
  readonly id: string;
  readonly title: string;
  /** Whether it stands on the SDK alone, so that nothing publishes the entries of its handlers. */
  readonly isBare?: boolean;
  create(deps: OptionDeps): HostedInstance;
}

/** A subject with claims, such as an option. */
export interface Measured extends Subject {
  /** Its name in tables, if that is not its `id` in capitals. */
  readonly name?: string | undefined;
  readonly claims: Claims;
}

/** A client of the harness, or `unaskable`: a modern client that did not declare elicitation. */
export type Client = ClientKind | 'unaskable';

/**
 * Hosting in separate processes. `http`: one process, with a session for each old client. `processes`: three processes
 * that keep nothing, and take turns.
 */
export type ProcessHostingKind = 'http' | 'processes';

export type HostingKind = LocalHostingKind | ProcessHostingKind;

/** Whether the hosting keeps an old client's connection, over which a server can ask. */
export const isHeld = (hosting: HostingKind): boolean => hosting === 'memory' || hosting === 'http';

/** Whether a call's rounds reach different instances. */
export const isSpread = (hosting: HostingKind): boolean => hosting === 'fleet' || hosting === 'processes';

export interface ConversationRequest extends Omit<Request, 'client' | 'participants'> {
  readonly subject: Subject;
  readonly client: Client;
  readonly hosting: HostingKind;
  readonly legacy: LegacyPolicy;
}

export const standalone = (
  id: string,
  title: string,
  createServer: (policy: RequestStatePolicy) => McpServer,
): Subject => ({ id, title, create: ({ state }) => ({ server: () => createServer(state) }) });

export const onPostgres = <Of extends Subject>(subject: Of, postgres: string): Of => ({
  ...subject,
  create: (deps: OptionDeps) => subject.create({ ...deps, postgres }),
});
