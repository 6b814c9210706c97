/** Users who log in, on AWS Lambda behind an HTTP API or a function URL: payloads of version 2.0. */
import { createMcpMount, listVerifier } from '@mrtr/hosting/http';
import { open } from './postgres-ledger.ts';

/** The part of a payload that is read here. Each request that comes is of MCP. */
interface Payload {
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly isBase64Encoded: boolean;
  readonly requestContext: { readonly http: { readonly method: string } };
}

const { DATABASE_URL = '', STATE_KEY = '', TOKENS = '' } = process.env;
const mcp = createMcpMount(
  { server: open(DATABASE_URL, [STATE_KEY]).createServer },
  {
    allowedHosts: 'any', // AWS has checked the host
    verifier: listVerifier(TOKENS),
    // Lambda sends a response when it is complete, and freezes an instance between two requests.
    legacyClients: 'stateless',
    limits: { subscriptions: 0 },
  },
);

export async function handler({ headers, body = '', isBase64Encoded, requestContext }: Payload) {
  const { method } = requestContext.http;
  const request = new Request(`https://${headers.host}/mcp`, { method, headers });
  const parsedBody = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  const response = await mcp.fetch(request, { parsedBody });
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}
