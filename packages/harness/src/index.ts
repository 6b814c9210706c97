/** `@mrtr/harness`: runs options and measures what they do. Knows the option contract, and no option by name. */
export * from './conversation.ts';
export { converse } from './converse.ts';
export { diffViews } from './diff.ts';
export * from './from-old-server.ts';
export * from './invariants.ts';
export { measure, SCENARIOS } from './matrix.ts';
export { type Model, scriptedModel } from './model.ts';
export { hostView, hostViewOfAnyEra, MASKED, wireView } from './normalise.ts';
export * from './observe.ts';
export { type Prediction, predict } from './predict.ts';
export type { Presentations, RetriedTwice } from './retried-twice.ts';
export { SCRIPTS, type Script } from './scripts.ts';
export { standalone } from './standalone.ts';
export { optionsTable, quadrantTable } from './table.ts';
export type { Transcript, TranscriptEvent, WireMessage } from './transcript.ts';
export { type Reply, type ShownQuestion, scripted, shownQuestion, type User } from './user.ts';
