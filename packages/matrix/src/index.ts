/** The matrix: measures every option in every scenario, and compares it with its claims. */
export * from './measure/converse.ts';
export * from './measure/invariants.ts';
export * from './measure/measure.ts';
export * from './measure/observe.ts';
export { SCRIPTS, type UserScript } from './measure/scripts.ts';
export * from './measure/subject.ts';
export {
  measureUnattended,
  SELF_ANSWERING,
  selfAnswering,
  type UnattendedCell,
} from './measure/unattended.ts';
export { measuredTables, optionsTable, TABLED } from './tables.ts';
