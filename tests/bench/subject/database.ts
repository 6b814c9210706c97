/** What the benchmark tells its programs of the database. Apart from `durable.ts`, which loads DBOS. */

/** The name of H on PostgreSQL. */
export const ON_POSTGRES = 'h-postgres';

/** The environment variable with the connection string of the database that a program is to use. */
export const DATABASE = 'MRTR_BENCH_DATABASE';

/** What that variable says here. */
export const database = (): string => process.env[DATABASE] ?? '';
