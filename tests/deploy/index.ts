/** `@mrtr/tests/deploy`: a call whose server is replaced by another version of its code, between two rounds. */
export { inMemory } from './in-memory.ts';
export { play } from './play.ts';
export { versionOf } from './processes.ts';
export { ORDER, ORDERS, SHAPES, type ShapeId } from './subject.ts';
