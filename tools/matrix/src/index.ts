/** The matrix: measures every option in every scenario, and compares it with its claims. */
export * from './measure/invariants.ts';
export * from './measure/measure.ts';
export * from './measure/measurement.ts';
export { measureUnattended, type UnattendedCell } from './measure/unattended.ts';
export { measureUndrawn, type UndrawnCell } from './measure/undrawn.ts';
export { measuredTables, optionsTable, TABLED } from './tables.ts';
