/** A mount serves clients of both eras at a route of your own, and pages at another, in each of the routers below. */
import { createMcpMount, type PageSet } from '@mrtr/hosting/http';
import { createServer } from './deploy.ts';

/** Stands for your `approvalPage` or `pendingInteractions`. Without pages, leave out `pages` and their route. */
const page: PageSet = {
  path: '/approve',
  fetch: async (request) => new Response(`The form says ${await request.text()}.`),
};

/** Made once in a process. On a network, give it `allowedHosts` and `readiness`: your ledger. */
export const mcp = createMcpMount(
  { server: createServer }, // with `close`, where something outlives a request, such as H's store
  { pages: [page], onerror: (error) => console.error(error.message) },
);
