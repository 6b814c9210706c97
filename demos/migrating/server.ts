import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { protectedServer, requestStatePolicy } from '@mrtr/core';
import { restaurant } from './restaurant.ts';
import { registerBook } from './to-f.ts';

const policy = requestStatePolicy({ keys: [process.env.STATE_KEY] }); // the same keys on every instance

function createServer() {
  const server = protectedServer({ name: 'restaurant', version: '2.0.0' }, policy);
  registerBook(server, restaurant);
  return server;
}

serveStdio(createServer); // or, over HTTP: await serveHttp({ server: createServer }, { port: 3000 })
