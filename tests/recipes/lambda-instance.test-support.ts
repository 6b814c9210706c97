/**
 * An instance of the recipe for Lambda, behind an HTTP server that plays the HTTP API: it makes a payload of version 2.0 of
 * each request, and a response of the handler's result.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { handler } from '../../demos/recipes/on-lambda.ts';

/** Alternates, because the API encodes what it does not take for text. */
let isBase64Encoded = false;

const server = createServer(async (req, res) => {
  const { method = '', url = '', headers } = req;
  const [rawPath = '', rawQueryString = ''] = url.split('?');
  const body = await text(req);
  isBase64Encoded = !isBase64Encoded;
  const result = await handler({
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `${value}`])),
    ...(body && { body: isBase64Encoded ? Buffer.from(body).toString('base64') : body }),
    isBase64Encoded,
    requestContext: { http: { method } },
    // More of a payload.
    ...{ version: '2.0', routeKey: 'ANY /mcp', rawPath, rawQueryString },
  });
  res.writeHead(result.statusCode, result.headers).end(result.body);
});
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
);
