/** H on PostgreSQL beside all the others, and a database for it. */

import { keptOpen, POSTGRES_VARIABLE, postgres } from '@mrtr/option-h-postgres';
import { OPTIONS } from '@mrtr/options';
import { postgresServer } from '@mrtr/postgres-server';
import type { Option } from '@mrtr/tools';

/** Every option, and H on PostgreSQL. */
export const OPTIONS_AND_POSTGRES: readonly Option[] = [...OPTIONS, postgres];

/** A database of its own, on the server that `MRTR_TEST_POSTGRES` names or on a new one; the function ends it. */
export async function databaseOfCalls(): Promise<() => Promise<void>> {
  const server = await postgresServer(process.env.MRTR_TEST_POSTGRES);
  try {
    process.env[POSTGRES_VARIABLE] = await server.database();
    const close = await keptOpen();
    return async () => {
      await close();
      delete process.env[POSTGRES_VARIABLE];
      await server.stop();
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
