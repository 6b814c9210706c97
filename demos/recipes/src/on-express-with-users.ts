/** Users who log in, in an express application: a middleware reads the token, and the handler gets the user. */
import { requireBearerAuth } from '@modelcontextprotocol/express';
import { toNodeHandler } from '@modelcontextprotocol/node';
import express from 'express';
import { handler, verifier } from './authenticated.ts';

export const app = express();

const serve = toNodeHandler(handler, { onerror: (error) => console.error(error) });
// Not the function of the same name in @modelcontextprotocol/server, which takes a web Request.
app.use('/mcp', requireBearerAuth({ verifier }));
app.all('/mcp', express.json({ limit: '1mb' }), (req, res) => void serve(req, res, req.body));
