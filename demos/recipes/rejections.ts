/** Places that report the reasons that clients do not get. One of 1 and 3 is enough. */
import { protectedServer, requestStatePolicy } from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { createMcpMount } from '@mrtr/hosting/http';
import { registerDeploy } from './deploy.ts';

export type Log = (place: string, what: string) => void;

export function hostWithLog(log: Log) {
  // 1. The policy, once for all servers: rejected state, failures of the ledger and of `principal`, limits, and a
  // handler that asks again and again.
  const policy = requestStatePolicy({ onerror: (error) => log('policy.onerror', error.message) });

  const mcp = createMcpMount(
    {
      server() {
        const server = protectedServer({ name: 'deployer', version: '1.0.0' }, policy);
        // 2. Each server: the same, and what the SDK reports of this server's connection.
        server.server.onerror = (error) => log('server.onerror', error.message);
        return registerDeploy(server);
      },
    },
    // 3. The mount: requests that reach no tool, such as those of an unknown revision, and pages. It sets 2 where you do not.
    { onerror: (error) => log('mount.onerror', error.message) },
  );

  // 4. The diagnostics channels, for the whole process: why a request was rejected, and answers that did not count.
  const stop = [
    observe('mrtr:rejection', ({ reason, detail }) => log('mrtr:rejection', `${reason} ${detail}`)),
    observe('mrtr:answer', ({ key, reason, times }) => log('mrtr:answer', `${key} ${reason} ${times}`)),
  ];
  const close = async () => {
    for (const unobserve of stop) unobserve();
    await mcp.close();
  };
  return { fetch: mcp.fetch, close };
}
