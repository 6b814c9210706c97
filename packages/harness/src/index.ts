/** `@mrtr/harness`: drives any MCP server with real clients of both eras, and records what happens. */

export { answersLike } from './clients/answers-like.ts';
export { type ClientApplication, scriptedModel } from './clients/client-application.ts';
export { legacyClient, modernClient } from './clients/connect.ts';
export type { RoundResult } from './clients/round-result.ts';
export { type ShownQuestion, scriptedUser, type User } from './clients/user.ts';
export { Conversation, type ConversationRequest } from './conversations/conversation.ts';
export { converse } from './conversations/converse.ts';
export { InProcess } from './conversations/in-process.ts';
export { callerNamed } from './hosts/caller.ts';
export { type Endpoint, foreignHosting, type Hosting } from './hosts/endpoint.ts';
export { type HostedInstance, host, type LocalHostingKind } from './hosts/host.ts';
export { type Posted, poster } from './hosts/posting.ts';
export { labLink } from './recording/lab-link.ts';
export { LineTrace } from './recording/line-trace.ts';
export { recordEffect, recordVisit } from './recording/recorder.ts';
export type { ClientKind, LogicalCall, Reply } from './transcript/call.ts';
