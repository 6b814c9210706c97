/** `@mrtr/matrix/deploy`: a call whose server is replaced by another version of its code, between two rounds. */
export * from './call.ts';
export * from './changes.ts';
export { inMemory } from './in-memory.ts';
export * from './outcome.ts';
export { deploy, ORDER, versionOf } from './subject.ts';
export { deployTables } from './table.ts';
export { outlineOf, policyVersion, STEPS } from './versioned-tool.ts';
