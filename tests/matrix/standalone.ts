/** Servers that know nothing of options, in an option's form. */
import type { McpServer, RequestStatePolicy } from '@mrtr/core';
import type { Subject } from '@mrtr/harness';

/** What `converse` can run of a server that keeps nothing between two requests. */
export const standalone = (
  id: string,
  title: string,
  createServer: (policy: RequestStatePolicy) => McpServer,
): Subject => ({
  id,
  title,
  create: ({ state }) => ({ server: () => createServer(state), close: async () => {} }),
});
