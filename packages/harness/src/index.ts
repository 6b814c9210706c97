/** `@mrtr/harness`: drives any MCP server with real clients of both eras, and records what happens. */
export {
  type CallResult,
  type ClientKind,
  type Era,
  eraOf,
  type LogicalCall,
  type Root,
} from './call.ts';
export type { ClientApplication } from './clients/client-application.ts';
export { legacyClient, modernClient } from './clients/connect.ts';
export { type Model, scriptedModel } from './clients/model.ts';
export type { Answering } from './clients/recorded-application.ts';
export type { Replies, Round } from './clients/round.ts';
export { type Reply, type ShownPage, type ShownQuestion, scripted, type User } from './clients/user.ts';
export { Conversation, type ConversationRequest, type Deploy, type RoundsRequest } from './conversation.ts';
export { converse } from './converse.ts';
export { CHANNELS, type Diagnostic, observeDiagnostics } from './diagnostics.ts';
export type { Endpoint, Fetch, Hosting } from './endpoint.ts';
export {
  type HttpInstance,
  host,
  type LocalHosting,
  type LocalHostingKind,
  type McpInstance,
  type ServerInstance,
} from './host.ts';
export { InProcess } from './in-process.ts';
export { LineCoverage } from './line-coverage.ts';
export {
  callerNamed,
  type HttpFace,
  type Post,
  type Posted,
  type PostOptions,
  poster,
  type RequestOptions,
  readPosted,
  requestInit,
} from './posting.ts';
export type { Program } from './program.ts';
export { inInstance, Recorder, type RecorderOptions, recordEffect, recordVisit } from './recorder.ts';
export { Gate, settle, until, within } from './waiting.ts';
