/** `@mrtr/shapes/once`: shape F. */
export type { AskingOptions } from '../kit/asking.ts';
export type { HandlerContext, LogLevel } from '../kit/handler-context.ts';
export type { RecordedOptions } from '../kit/recorded.ts';
export { type OnceContext, once } from './once.ts';
