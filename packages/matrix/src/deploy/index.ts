/** `@mrtr/matrix/deploy`: a call whose server is replaced by another version of its code, between two rounds. */

export { claimOf } from './claims.ts';
export { CHANGE_NAMES, type Change, QUESTION_CHANGES, STEP_CHANGES } from './code/changes.ts';
export { CHANGES, type Code, isAsk, isEffect, place } from './code/code.ts';
export { inMemory } from './in-memory.ts';
export { outcomeOf } from './outcome.ts';
export { faultsOf, type Host, MOMENTS, type Moment, type Play, play } from './play.ts';
export { TwoProcesses, versionOf } from './processes.ts';
export { deploy, ORDER, ORDERS, SHAPES, type ShapeId } from './subject.ts';
export { deployTables } from './table.ts';
