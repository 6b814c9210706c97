/** In a hono application: the handler takes hono's request as it is. */
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { handler } from './mcp-handler.ts';

export const app = new Hono();

app.all('/mcp', ({ req: { raw } }) => {
  // Without them, a page of another site that a browser shows can call a server on this machine (DNS rebinding).
  const refused =
    hostHeaderValidationResponse(raw, localhostAllowedHostnames()) ??
    originValidationResponse(raw, localhostAllowedOrigins());
  return refused ?? handler.fetch(raw);
});
app.get('/', (c) => c.text('Not MCP.'));
