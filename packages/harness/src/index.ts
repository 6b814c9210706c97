/** `@mrtr/harness`: drives any MCP server with real clients of both eras, and records what happens. */

export { type ClientApplication, type Model, scriptedModel } from './clients/client-application.ts';
export { legacyClient, modernClient } from './clients/connect.ts';
export type { AnsweringUser } from './clients/recorded-application.ts';
export type { Replies, RoundResult, SendOptions } from './clients/round-result.ts';
export { type ShownPage, type ShownQuestion, scriptedUser, type User } from './clients/user.ts';
export {
  Conversation,
  type ConversationRequest,
  participantsOf,
  type RoundsRequest,
  type StartServer,
} from './conversations/conversation.ts';
export { converse } from './conversations/converse.ts';
export { InProcess } from './conversations/in-process.ts';
export { callerNamed } from './hosts/caller.ts';
export { type Endpoint, type Fetch, foreignHosting, type Hosting } from './hosts/endpoint.ts';
export * from './hosts/host.ts';
export * from './hosts/posting.ts';
export type { Program } from './processes/process.ts';
export * from './processes/waiting.ts';
export * from './recording/diagnostics.ts';
export { LineTrace } from './recording/line-trace.ts';
export {
  inInstance,
  Recorder,
  type RecorderOptions,
  recordEffect,
  recordVisit,
} from './recording/recorder.ts';
export * from './transcript/call.ts';
