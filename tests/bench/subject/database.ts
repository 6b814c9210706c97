/** How the benchmark names the database to its programs. Separate from `durable.ts`, which loads DBOS. */

/** The name of H on PostgreSQL. */
export const ON_POSTGRES = 'h-postgres';

/** The environment variable with the connection string of a program's database. */
export const DATABASE = 'MRTR_BENCH_DATABASE';

/** The value of that variable in this process. */
export const database = (): string => process.env[DATABASE] ?? '';
