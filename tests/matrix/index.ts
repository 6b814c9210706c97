/** The matrix: measures every option in every scenario, and compares it with its claims. */
export * from './converse.ts';
export * from './from-old-server.ts';
export * from './invariants.ts';
export * from './measure.ts';
export * from './observe.ts';
export { SCRIPTS, type Script } from './scripts.ts';
export * from './subject.ts';
export { measuredRows, measuredTables, TABLED } from './table.ts';
