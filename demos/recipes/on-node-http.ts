/** In a plain server of Node. */
import { createServer } from 'node:http';
import { mcp } from './mount.ts';

export const server = createServer((req, res) => {
  if (req.url?.split('?')[0] === '/mcp') void mcp.handle(req, res);
  else if (req.url?.startsWith('/approve/')) void mcp.handlePages(req, res);
  else res.end('Not MCP.');
});
