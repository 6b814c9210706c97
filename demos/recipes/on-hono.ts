/** In a hono application: the mount takes hono's request as it is. */
import { Hono } from 'hono';
import { mcp } from './mount.ts';

export const app = new Hono()
  .all('/mcp', (c) => mcp.fetch(c.req.raw))
  .all('/approve/*', (c) => mcp.fetchPages(c.req.raw))
  .get('/readyz', async (c) => c.body(null, (await mcp.isReady()) ? 200 : 503));
