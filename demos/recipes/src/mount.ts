/** A mount serves clients of both eras at a route of your own, in each of the routers below. */
import { createMcpMount } from '@mrtr/hosting/http';
import { createServer } from './deploy.ts';

/** Made once in a process. On a network, give it `allowedHosts` and `readiness`: your ledger. */
export const mcp = createMcpMount(
  { server: createServer }, // with `close`, where something outlives a request, such as H's store
  { onerror: (error) => console.error(error.message) },
);
