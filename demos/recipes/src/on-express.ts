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
app.use('/mcp', (req, res, next) => {
  if (isHost(req, res) && isOrigin(req, res)) next();
});

// A body that express has parsed is passed on. Its own limit is 100 kB; sealed state alone can have 64 kB.
app.all('/mcp', express.json({ limit: '1mb' }), (req, res) => void serve(req, res, req.body));
app.get('/', (_req, res) => void res.send('Not MCP.'));
