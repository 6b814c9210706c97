/** `@mrtr/harness/transcript`: transcripts, and functions that read them. Nothing in it needs Node. */
export { compareLists, diffViews } from './diff.ts';
export { escapeHidden, escapeLines, jsonText } from './hidden-characters.ts';
export { asks, isCall, Layout, lanesOf, type Row, rowsOf, spansOf } from './layout.ts';
export { toMermaid } from './mermaid.ts';
export { eventsOf, messagesFrom, type Tally, tally } from './tally.ts';
export * from './transcript.ts';
export { hostView, MASKED, wireView } from './views.ts';
export { answerText, asText, type JsonObject, objectIn, replyText, resultText } from './wording.ts';
