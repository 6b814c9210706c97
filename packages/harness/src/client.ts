/** A real client, of whichever SDK, ready for the one call of its conversation. */
import type { CompleteResult } from '@mrtr/core';
import type { ClientKind, LogicalCall } from './conversation.ts';
import type { HostApplication } from './host-application.ts';
import type { Endpoint } from './hosting.ts';
import type { Recorder } from './recorder.ts';

/** A connected client. */
export interface ConnectedClient {
  /** Makes the call, in as many rounds as it takes. */
  call(call: LogicalCall): Promise<CompleteResult>;
  close(): Promise<void>;
}

/** What every client calls itself. */
export const CLIENT_INFO = { name: 'mrtr-shapes-client', version: '0.0.0' };

/** How long a client waits for one answer of the server, in milliseconds: people may be in between. */
export const PATIENCE = { timeout: 600_000 };

/** Connects `application`'s client to a server. Loads no SDK that it does not need. */
export async function connect(
  kind: ClientKind,
  application: HostApplication,
  endpoint: Endpoint,
  recorder: Recorder,
): Promise<ConnectedClient> {
  if (kind === 'legacy') {
    const { connectLegacy } = await import('./legacy-client.ts');
    return connectLegacy(application, endpoint, recorder);
  }
  const { connectModern } = await import('./modern-client.ts');
  return connectModern(kind, application, endpoint, recorder);
}
