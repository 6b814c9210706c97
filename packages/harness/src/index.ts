/** `@mrtr/harness`: runs options and measures what they do. Knows the option contract, and no option by name. */
export * from './conversation.ts';
export { converse } from './converse.ts';
export { diffViews } from './diff.ts';
export * from './invariants.ts';
export { measure, SCENARIOS } from './matrix.ts';
export { hostView, MASKED, wireView } from './normalise.ts';
export * from './observe.ts';
export { type Prediction, predict } from './predict.ts';
export { SCRIPTS, type Script } from './scripts.ts';
export { optionsTable, quadrantTable } from './table.ts';
export type { Transcript, TranscriptEvent, WireMessage } from './transcript.ts';
export { type Reply, type ShownQuestion, scripted, shownQuestion, type User } from './user.ts';
