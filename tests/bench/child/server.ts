/** A measured server in its own process. It sends its address, and its processor time on request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveHttp } from '@mrtr/hosting/http';
import { servers } from '../subjects.ts';

const [name = ''] = process.argv.slice(2);
const server = await servers(name);

/** On the SDK alone. */
async function listenBare(): Promise<string> {
  const handle = toNodeHandler(createMcpHandler(server));
  const listener = createServer((req, res) => void handle(req as Parameters<typeof handle>[0], res));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`;
}

const address = name === 'documented' ? await listenBare() : (await serveHttp({ server })).url.href;
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.on('disconnect', () => process.exit());
process.send?.(address);
