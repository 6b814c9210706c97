/** `@mrtr/core/shape`: for authors of handler shapes, in addition to `@mrtr/core`. */

export { type AskProblem, findAskProblem } from './admission/ask-problem.ts';
export { type ShapeParts, shapeCallback } from './admission/shape-callback.ts';
export { type ShapeNotes, withNotes } from './admission/shape-notes.ts';
export { fallbackOf } from './answers/read-answer.ts';
export { publishEntry } from './diagnostics/events.ts';
export { type FinalAnswer, isFinal } from './questions/answer.ts';
export { isDigestOf, questionDigest } from './questions/question.ts';
export { endCall, endCancelled } from './results.ts';
export { tokenLength } from './state/codec.ts';
export { requireFitting } from './state/read-state.ts';
export { keepStamp, withoutStamps } from './wire/answer-stamp.ts';
export { type Call, callOf, idempotencyKeyOf } from './wire/call.ts';
export type { CompleteResult, SdkCallback } from './wire/wire.ts';
