/** `@mrtr/core/shape`: for authors of handler shapes, in addition to `@mrtr/core`. */

export { type AskProblem, askProblem } from './admission/ask-problem.ts';
export { type ShapeParts, shapeCallback } from './admission/shape-callback.ts';
export { notesOf, type ShapeNotes, withNotes } from './admission/shape-notes.ts';
export { notAQuestionError, requireKeys } from './answers/ask.ts';
export { fallbackOf, hasFallback, readingOf } from './answers/read-answer.ts';
export { type FinalAnswer, isFinal } from './questions/answer.ts';
export { isDigestOf, isQuestion, isQuestions, questionDigest } from './questions/question.ts';
export { tokenLength } from './state/codec.ts';
export { requireFitting } from './state/read-state.ts';
export { type AnswerRead, AnswerReads } from './wire/answer-reads.ts';
export { keepStamp, withoutStamps } from './wire/answer-stamp.ts';
export { type Call, callOf, findCall, idempotencyKeyOf } from './wire/call.ts';
export { endCall, endCancelled } from './wire/results.ts';
export type { CompleteResult, MrtrMethod, SdkCallback } from './wire/wire.ts';
