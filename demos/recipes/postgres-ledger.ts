/** The same, with the ledger in a table of PostgreSQL 12 or later. */
import { type McpServer, protectedServer, requestStatePolicy } from '@mrtr/core';
import { PostgresLedger } from '@mrtr/ledgers/postgres';
import { Pool } from 'pg';
import { registerDeploy } from './deploy.ts';

/** Call it once in a process, and `ledger.createTable()` once before. It connects when it is first asked. */
export function open(connectionString: string, keys: readonly string[]) {
  const pool = new Pool({ connectionString });
  pool.on('error', (error) => console.error(error)); // an idle connection broke; the pool makes a new one
  const ledger = new PostgresLedger(pool);
  const policy = requestStatePolicy({ keys, ledger });
  const createServer = (): McpServer =>
    registerDeploy(protectedServer({ name: 'deployer', version: '1.0.0' }, policy));
  return { ledger, createServer, close: () => pool.end() };
}
