/** In a plain server of Node. Where no page is, `handlePages` answers with 404. */
import { createServer } from 'node:http';
import { mcp } from './mount.ts';

export const server = createServer((req, res) =>
  req.url?.split('?')[0] === '/mcp' ? mcp.handle(req, res) : mcp.handlePages(req, res),
);
