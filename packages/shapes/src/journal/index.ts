/** `@mrtr/shapes/journal`: shape J. */
export type { HandlerContext, LogLevel } from '../kit/handler-context.ts';
export type { RecordedOptions } from '../kit/recorded.ts';
export { type JournalContext, type JournalOptions, journal } from './journal.ts';
export { JournalDiverged } from './record.ts';
export { EffectFailed } from './replay.ts';
