/** Real clients of both SDKs, connected to a transport. Each SDK loads when its client is needed, and only then. */
import type { Client, Transport } from '@modelcontextprotocol/client';
import type { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport as LegacyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ClientApplication } from './client-application.ts';

/**
 * The SDK's v2 client, connected: pinned to 2026-07-28, or with `fallback` also for servers at 2025-11-25.
 *
 * @example
 * const client = await modernClient(new StreamableHTTPClientTransport(url), {
 *   elicit: () => ({ action: 'accept', content: { sure: true } }),
 * });
 */
export async function modernClient(
  transport: Transport,
  application: ClientApplication = {},
  { fallback = false } = {},
): Promise<Client> {
  const { connectModern } = await import('./modern.ts');
  return connectModern(transport, application, fallback);
}

/**
 * The published v1 SDK's client, connected.
 *
 * @example
 * const client = await legacyClient(new StreamableHTTPClientTransport(url), { elicit });
 */
export async function legacyClient(
  transport: LegacyTransport,
  application: ClientApplication = {},
): Promise<LegacyClient> {
  const { connectLegacy } = await import('./legacy.ts');
  return connectLegacy(transport, application);
}
