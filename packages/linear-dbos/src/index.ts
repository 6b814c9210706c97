/** `@mrtr/linear-dbos`: handlers of shape H that any instance can go on with, on DBOS and PostgreSQL. */
export type { DbosStoreOptions } from './options.ts';
export { DbosStore } from './store.ts';
