/** The matrix: every option in every scenario, measured and held to its claims. */
export * from './converse.ts';
export * from './from-old-server.ts';
export * from './invariants.ts';
export * from './measure.ts';
export * from './observe.ts';
export { type Prediction, predict } from './predict.ts';
export type { Presentations, RetriedTwice } from './retried-twice.ts';
export { SCRIPTS, type Script } from './scripts.ts';
export { standalone } from './standalone.ts';
export { optionsTable, quadrantTable } from './table.ts';
