/** Users who log in, in a hono application: your sign-in says who calls, and `authInfo` says it to the mount. */
import { Hono } from 'hono';
import { mcp, signIn } from './signed-in.ts';

export const app = new Hono().all('/mcp', async (c) => {
  const caller = await signIn(c.req.raw);
  return caller instanceof Response ? caller : mcp.fetch(c.req.raw, { authInfo: caller });
});
