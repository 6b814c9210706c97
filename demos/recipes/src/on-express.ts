/** In an express application, beside its other routes. */
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import express from 'express';
import { handler } from './mcp-handler.ts';

export const app = express();

const serve = toNodeHandler(handler, { onerror: (error) => console.error(error) });
// Without them, a page of another site that a browser shows can call a server on this machine (DNS rebinding).
const [isHost, isOrigin] = [localhostHostValidation(), localhostOriginValidation()];

// A body that express has parsed is passed on. It limits it to 100 kB; sealed state can have 64 kB.
app.all('/mcp', express.json({ limit: '1mb' }), (req, res) => {
  if (isHost(req, res) && isOrigin(req, res)) void serve(req, res, req.body);
});
app.get('/', (_req, res) => void res.send('Not MCP.'));
