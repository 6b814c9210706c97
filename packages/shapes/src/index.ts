/** `@mrtr/shapes`: what the shapes share. Each shape has an entry of its own. */
export { AnswerPromise } from './kit/answer-promise.ts';
export type { AskingOptions } from './kit/asking.ts';
export { type HandlerContext, handlerContext } from './kit/handler-context.ts';
export { Recall } from './kit/recall.ts';
export type { RecordedOptions } from './kit/recorded.ts';
