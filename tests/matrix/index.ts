/** The matrix: every option in every scenario, measured and held to its claims. */
export * from './converse.ts';
export * from './from-old-server.ts';
export * from './invariants.ts';
export * from './measure.ts';
export * from './observe.ts';
export { SCRIPTS, type Script } from './scripts.ts';
export * from './subject.ts';
export { measuredRows, measuredTables, TABLED } from './table.ts';
