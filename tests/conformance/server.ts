/**
 * The server that the suite is run against: `node --import tsx src/server.ts --shape f --port 3000`. Started by the
 * runner, it tells it the address, and lives no longer than it does.
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { requestStatePolicy } from '@mrtr/core';
import { serveHttp } from '@mrtr/hosting/http';
import { isShape, SHAPES, servedIn } from './shapes.ts';

const options = { shape: { type: 'string' }, port: { type: 'string', default: '0' } } as const;
const { shape, port } = parseArgs({ options }).values;
if (!isShape(shape)) throw new Error(`--shape has to be one of ${SHAPES.join(', ')}; it is ${shape}.`);

// One process, and nobody else goes on with its calls: its key may end with it.
const policy = requestStatePolicy({ keys: [randomBytes(32)] });
const hosting = await serveHttp(servedIn(shape, policy), {
  port: Number(port),
  legacy: 'stateless',
  drainMs: 1000,
});
const close = () => void hosting.close();
process.once('SIGTERM', close).once('SIGINT', close).once('disconnect', close);
process.send?.(hosting.url.href);
process.stderr.write(`Shape ${shape.toUpperCase()} at ${hosting.url}\n`);
