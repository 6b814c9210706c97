/** An HTTP server of one subject. Reports its port and its processor time on request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveHttp } from '@mrtr/hosting/http';
import { documented } from '../subject/documented.ts';
import { running, SHAPES } from '../subject/options.ts';
import { forgetfulWorld } from '../subject/world.ts';
import { cpuUsed } from './cpu.ts';

const [name = ''] = process.argv.slice(2);
const option = SHAPES.find(({ id }) => id === name);

async function listen(): Promise<number> {
  if (option) return Number((await serveHttp(running(option))).url.port);
  const handle = toNodeHandler(createMcpHandler(documented(forgetfulWorld())));
  const server = createServer((req, res) => void handle(req as Parameters<typeof handle>[0], res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const port = await listen();
process.on('message', (message) => process.send?.(message === 'port' ? port : cpuUsed()));
process.on('disconnect', () => process.exit());
