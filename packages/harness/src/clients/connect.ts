/** Real clients of both SDKs, connected to a transport. Each SDK loads only when its client is needed. */
import type { Client, Transport } from '@modelcontextprotocol/client';
import type { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport as LegacyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ClientApplication } from './client-application.ts';
import { recordedApplication } from './recorded-application.ts';

/**
 * Connects the SDK's v2 client, pinned to 2026-07-28. With `fallback` it also accepts servers at 2025-11-25.
 *
 * @example
 * const client = await modernClient(new StreamableHTTPClientTransport(url), {
 *   user: () => ({ action: 'accept', content: { sure: true } }),
 * });
 */
export async function modernClient(
  transport: Transport,
  application: ClientApplication = {},
  { fallback = false } = {},
): Promise<Client> {
  const { connectModern } = await import('./modern.ts');
  return connectModern(transport, recordedApplication(application), fallback);
}

/**
 * Connects the published v1 SDK's client.
 *
 * @example
 * const client = await legacyClient(new StreamableHTTPClientTransport(url), { user });
 */
export async function legacyClient(
  transport: LegacyTransport,
  application: ClientApplication = {},
): Promise<LegacyClient> {
  const { connectLegacy } = await import('./legacy.ts');
  return connectLegacy(transport, recordedApplication(application));
}
