/** `@mrtr/harness`: drives any MCP server with real clients of both eras, and records what happens. */

export type { ClientApplication } from './clients/client-application.ts';
export { legacyClient, modernClient } from './clients/connect.ts';
export { type Model, scriptedModel } from './clients/model.ts';
export type { Answering } from './clients/recorded-application.ts';
export type { Replies, Round, SendOptions } from './clients/round.ts';
export { type ShownPage, type ShownQuestion, scriptedUser, type User } from './clients/user.ts';
export {
  Conversation,
  type ConversationRequest,
  type Deploy,
  participantsOf,
  type RoundsRequest,
} from './conversations/conversation.ts';
export { converse } from './conversations/converse.ts';
export { InProcess } from './conversations/in-process.ts';
export { callerNamed } from './hosts/caller.ts';
export { type Endpoint, type Fetch, foreignHosting, type Hosting } from './hosts/endpoint.ts';
export {
  type HostedInstance,
  type HttpInstance,
  host,
  type LocalHosting,
  type LocalHostingKind,
  type McpInstance,
} from './hosts/host.ts';
export {
  type HttpFace,
  type Post,
  type Posted,
  type PostOptions,
  poster,
  type RequestOptions,
  readPosted,
  requestInit,
} from './hosts/posting.ts';
export type { Program } from './processes/program.ts';
export { Deferred, settle, until, within } from './processes/waiting.ts';
export { CHANNELS, type Diagnostic, observeDiagnostics } from './recording/diagnostics.ts';
export { LineTrace } from './recording/line-trace.ts';
export {
  inInstance,
  Recorder,
  type RecorderOptions,
  recordEffect,
  recordVisit,
} from './recording/recorder.ts';
export {
  type CallResult,
  type ClientKind,
  type Era,
  eraOf,
  type LogicalCall,
  type Reply,
  type Root,
} from './transcript/call.ts';
