/** Users who log in, in an express application: its own middleware authenticates, and says in `req.auth` who calls. */
import { requireBearerAuth } from '@modelcontextprotocol/express';
import express from 'express';
import { mcp, verifier } from './authenticated.ts';

export const app = express().use('/mcp', requireBearerAuth({ verifier }), mcp.handle);
