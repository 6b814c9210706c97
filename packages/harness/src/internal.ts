/**
 * `@mrtr/harness/internal`: what this project's own checker, tools and tests share. It is published without types, and
 * documented nowhere.
 */
export { CLIENT_BEHAVIOURS } from './clients/answers-like.ts';
export { replyWith } from './clients/user.ts';
export { participantsOf } from './conversations/conversation.ts';
export type { Fetch } from './hosts/endpoint.ts';
export { endpointFrom } from './hosts/endpoint-from.ts';
export * from './hosts/envelope.ts';
export { limitBody, MAX_BYTES, TOO_LONG } from './hosts/limit-body.ts';
export { type RequestOptions, readPosted, requestInit } from './hosts/posting.ts';
export { killAll } from './processes/child.ts';
export { endOnSignals, ServerProcess } from './processes/server-process.ts';
export * from './processes/waiting.ts';
export { Writer } from './processes/writer.ts';
export { type Diagnostic, observeDiagnostics } from './recording/diagnostics.ts';
export { readOutside } from './recording/outside-probe.ts';
export { inInstance, Recorder } from './recording/recorder.ts';
export { choicesOf } from './transcript/choices.ts';
export { escapeHidden, escapeLines, jsonText } from './transcript/hidden-characters.ts';
export { canonical } from './transcript/views.ts';
