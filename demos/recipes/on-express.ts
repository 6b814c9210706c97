/** In an express application, beside its other routes. */
import express from 'express';
import { mcp } from './mount.ts';

export const app = express();

// Pages authenticate by themselves. Mount them before any parser of bodies.
app.use('/approve', mcp.handlePages);
// Your application's parser may have read the body. Its limit is 100 kB; sealed state alone can have 64 kB.
app.use(express.json({ limit: '1mb' }));
app.all('/mcp', mcp.handle);
app.get('/readyz', async (_req, res) => void res.sendStatus((await mcp.isReady()) ? 200 : 503));
