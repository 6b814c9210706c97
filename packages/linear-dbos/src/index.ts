/** `@mrtr/linear-dbos`: shape H on DBOS and PostgreSQL: any instance can resume a handler. */
export type { DbosStoreOptions } from './options.ts';
export { DbosStore } from './store.ts';
