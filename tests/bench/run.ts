/**
 * Bundles the measured code, starts a PostgreSQL, and runs the benchmark. It does not run from TypeScript like the
 * demos: Node 20's loader names every function at run time, which slows our code but not the SDK's.
 */
import { spawnSync } from 'node:child_process';
import { postgresServer } from '@mrtr/postgres-server';
import { bundle } from '../testkit/bundle.ts';
import { SHAPES } from './start-up.ts';

const at = (path: string) => new URL(path, import.meta.url);
const [main = ''] = await Promise.all([
  bundle(at('main.ts')),
  bundle(at('child/server.ts')),
  bundle(at('child/parked.ts')),
  ...SHAPES.map((shape) => bundle(at(`../../packages/shapes/src/${shape}/index.ts`), `shape-${shape}`)),
]);
// A commit waits for the disk, as in production.
const server = await postgresServer(process.env.MRTR_BENCH_POSTGRES, { fsync: true });
try {
  const env = { ...process.env, MRTR_BENCH_POSTGRES: await server.database() };
  const { status } = spawnSync(process.execPath, [main, ...process.argv.slice(2)], { stdio: 'inherit', env });
  process.exitCode = status ?? 1;
} finally {
  await server.stop();
}
