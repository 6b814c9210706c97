/** An HTTP server of one subject. Reports its processor time and its heap on request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveHttp } from '@mrtr/hosting/http';
import { documented } from '../subject/documented.ts';
import { running, SHAPES } from '../subject/options.ts';
import { forgetfulWorld } from '../subject/world.ts';
import { cpuUsed } from './cpu.ts';
import { heapUsed } from './heap.ts';

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
const TOLD: Readonly<Record<string, () => unknown>> = { port: () => port, cpu: cpuUsed, heap: heapUsed };
process.on('message', async (message) => process.send?.(await TOLD[String(message)]?.()));
process.on('disconnect', () => process.exit());
