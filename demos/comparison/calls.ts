/** `@mrtr/comparison/calls`: makes a call of an option or a demo, with a scripted user, and records it. */
export * from './converse.ts';
export * from './scripts.ts';
export * from './self-answering.ts';
export * from './start-subject.ts';
export * from './subject.ts';
