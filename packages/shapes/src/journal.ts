/** `@mrtr/shapes/journal`: shape J. */
export { JournalDiverged } from './journal/journal.ts';
export { type JournalContext, type JournalOptions, journaled } from './journal/journaled.ts';
export { EffectFailed, type OnFailure } from './journal/replay.ts';
