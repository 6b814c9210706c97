/** `@mrtr/linear-dbos`: handlers of shape H that any instance can resume, on DBOS and PostgreSQL. */
export type { DbosStoreOptions } from './options.ts';
export { DbosStore } from './store.ts';
