/** A call of the recipes' tool. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type ClientKind,
  Conversation,
  foreignHosting,
  type Hosting,
  type LogicalCall,
  requestInit,
} from '@mrtr/harness';
import { resultText } from '@mrtr/harness/transcript';
import { expect, onTestFinished } from 'vitest';

export const DEPLOY = {
  method: 'tools/call',
  params: { name: 'deploy', arguments: { env: 'staging' } },
} as const satisfies LogicalCall;

/** Makes the call, and says yes, or four stars. Returns the result's text. */
export async function called(
  hosting: Hosting,
  request: { readonly client?: ClientKind; readonly call?: LogicalCall } = {},
): Promise<string> {
  const conversation = await Conversation.start(
    { client: 'modern', call: DEPLOY, ...request },
    () => hosting,
  );
  const done = await conversation.first.answer({ sure: true, stars: 4 });
  await conversation.close();
  return resultText(done.end?.result ?? {});
}

export const listeningAt = (url: URL): Hosting => foreignHosting(url);

/** The address of MCP on a server that listens until the test ends. */
export async function urlOf(server: Server): Promise<URL> {
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
}

/** A v1 client and a v2 client are both asked, beside another route and pages, and a page of another site is refused. */
export async function asksBoth(url: URL): Promise<void> {
  for (const client of ['modern', 'legacy'] as const)
    expect(await called(listeningAt(url), { client })).toBe('Deployed to staging.');
  expect(await (await fetch(new URL('/', url))).text()).toBe('Not MCP.');
  const body = new URLSearchParams({ decision: 'approve' });
  const pressed = await fetch(new URL('/approve/start', url), { method: 'POST', body });
  expect(await pressed.text()).toBe('The form says decision=approve.');
  for (const path of ['/approve', '/approve;x', '/approve/start;x', '/APPROVE/start']) {
    const answer = await fetch(new URL(path, url), requestInit('tools/list'));
    expect(await answer.text()).not.toContain('"tools"');
  }
  expect((await fetch(url, { method: 'POST', headers: { origin: 'https://example.com' } })).status).toBe(403);
}
