/** The matrix: measures every option in every scenario, and makes its tables. */
export * from './measure/measure.ts';
export * from './measure/measurement.ts';
export { measureUnattended, type UnattendedCell } from './measure/unattended.ts';
export { measureUndrawn, type UndrawnCell } from './measure/undrawn.ts';
export { groupBy } from './table-rows.ts';
export { measuredTables, optionsTable, TABLED } from './tables.ts';
