/** `@mrtr/harness`: real clients of both eras, hostings, a recorder, and transcripts to compare. */
export { type ConnectedClient, connect } from './client.ts';
export * from './conversation.ts';
export { type Diagnostic, observeDiagnostics } from './diagnostics.ts';
export { diffViews } from './diff.ts';
export { HostApplication } from './host-application.ts';
export { type Endpoint, type Hosting, host, type Program } from './hosting.ts';
export { type Model, scriptedModel } from './model.ts';
export { hostView, hostViewOfAnyEra, MASKED, wireView } from './normalise.ts';
export { Recorder } from './recorder.ts';
export type { Transcript, TranscriptEvent, WireMessage } from './transcript.ts';
export { type Reply, type ShownQuestion, scripted, shownQuestion, type User } from './user.ts';
