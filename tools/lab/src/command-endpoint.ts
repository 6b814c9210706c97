/**
 * The command endpoint of the live lab: serves the page, and takes commands only from it. It listens on 127.0.0.1. A
 * request must name that address as its host, which stops DNS rebinding. A command must have the page's origin and the
 * printed token, so that no other page can kill a process.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Lab } from './lab.ts';

export interface Folders {
  readonly page: string;
  readonly recorded: string;
}

export type CommandEndpoint = Awaited<ReturnType<typeof openCommandEndpoint>>;

const MAX_BYTES = 65_536;

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Opens the endpoint, at `port` or any free one. Commands wait for a lab that is still starting. */
export async function openCommandEndpoint(lab: Lab | Promise<Lab>, folders: Folders, port = 0) {
  const token = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    serve(request, response, { lab, folders, token }).catch(() => {
      if (!response.headersSent) end(response, 500);
      else response.destroy();
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/#token=${token}`,
    token,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Room {
  readonly lab: Lab | Promise<Lab>;
  readonly folders: Folders;
  readonly token: string;
}

async function serve(request: IncomingMessage, response: ServerResponse, room: Room) {
  const { method, url = '', socket, headers } = request;
  const { host, origin } = headers;
  if (!['127.0.0.1', 'localhost'].some((name) => host === `${name}:${socket.localPort}`))
    return end(response, 421);
  if (origin !== undefined && origin !== `http://${host}`) return end(response, 403);
  const isCommand = url === '/do';
  if (!isCommand && url !== '/changes')
    return method === 'GET' ? file(url, response, room.folders) : end(response, 405);
  if (method !== 'POST') return end(response, 405);
  // Browsers always send the origin of a POST. A program without one needs the token.
  if (origin === undefined || !hasToken(request, room.token)) return end(response, 403);
  if (!isCommand) return changes(response, await room.lab);
  const status = await command(request, room.lab);
  return end(response, status);
}

/** Compares digests, in constant time. */
function hasToken({ headers }: IncomingMessage, token: string) {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`));
}

/** Runs the command of a request. Returns the status of the response. */
async function command(request: IncomingMessage, lab: Room['lab']) {
  if (request.headers['content-type'] !== 'application/json') return 415;
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_BYTES) return 413;
  }
  // Loaded late: the checks would add a third to the start-up time, and showing the page does not need them.
  const { readCommand } = await import('./commands.ts');
  const given = readCommand(text);
  if (!given) return 400;
  // The page shows a refusal on its side. The response only says that the command was valid.
  await (await lab).do(given);
  return 204;
}

/** Sends every change as a line of JSON while the page listens. */
function changes(response: ServerResponse, lab: Lab) {
  response.writeHead(200, { ...HEADERS, 'content-type': 'application/x-ndjson' });
  const stop = lab.watch((change) => void response.write(`${JSON.stringify(change)}\n`));
  response.once('close', stop);
}

/** Sends one of the page's files: a name in one of two folders, never a path. */
function file(path: string, response: ServerResponse, { page, recorded }: Folders) {
  const [, folder, asked] = /^\/(?:(recorded)\/)?([a-z][\w-]*(?:\.[\w-]+)*\.(?:js|css))$/.exec(path) ?? [];
  const name = path === '/' ? 'index.html' : asked;
  if (name === undefined) {
    end(response, 404);
    return;
  }
  const send = (text: string | Buffer) => {
    const type = TYPES[name.split('.').at(-1) ?? ''];
    response.writeHead(200, { ...HEADERS, 'content-type': type });
    response.end(text);
  };
  try {
    send(readFileSync(join(folder ? recorded : page, name)));
  } catch {
    // The lab may still be recording; the page asks again.
    if (folder && name.endsWith('.js')) send('');
    else end(response, 404);
  }
}

function end(response: ServerResponse, status: number) {
  response.writeHead(status, HEADERS);
  response.end();
}
