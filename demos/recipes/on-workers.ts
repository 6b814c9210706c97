/** Users who log in, on Cloudflare Workers, with the flag `nodejs_compat`. STATE_KEY and TOKENS are secrets of the Worker. */
import { createMcpMount, listVerifier } from '@mrtr/hosting/http';
import { createServer } from './deploy.ts';

const mcp = createMcpMount(
  { server: createServer },
  {
    allowedHosts: 'any', // Cloudflare has checked the host
    verifier: listVerifier(process.env.TOKENS ?? ''),
    limits: { subscriptions: 0 }, // a change in another request could not reach them
  },
);

export default { fetch: (request: Request): Promise<Response> => mcp.fetch(request) };
