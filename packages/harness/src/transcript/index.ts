/** `@mrtr/harness/transcript`: transcripts, and functions that read them. Nothing in it needs Node. */
export { compareLists, diffViews } from './diff.ts';
export { asks, isCall, Layout, lanesOf, type Row, rowsOf, spansOf } from './layout.ts';
export { toMermaid } from './mermaid.ts';
export { eventsOf, messagesFrom, tally } from './tally.ts';
export {
  CLIENT,
  type Happening,
  type Lines,
  type LinesRun,
  type Message,
  type Participant,
  PERSON,
  type QuestionEvent,
  type SourceLine,
  type Transcript,
  type TranscriptEvent,
  type WireMessage,
  WORLD,
} from './transcript.ts';
export { hostView, wireView } from './views.ts';
export { answerText, asText, objectIn, resultText } from './wording.ts';
