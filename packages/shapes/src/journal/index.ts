/** `@mrtr/shapes/journal`: shape J. */
export { type JournalContext, type JournalOptions, journal } from './journal.ts';
export { JournalDiverged } from './record.ts';
export { EffectFailed } from './replay.ts';
