/** A call of the recipes' tool. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthInfo } from '@modelcontextprotocol/server';
import {
  type ClientKind,
  Conversation,
  callerNamed,
  foreignHosting,
  type Hosting,
  type LogicalCall,
  type Posted,
  poster,
} from '@mrtr/harness';
import { requestInit } from '@mrtr/harness/internal';
import { resultText } from '@mrtr/harness/transcript';
import { expect, onTestFinished } from 'vitest';
import { REJECTED } from '../testkit/rejected.ts';

export const DEPLOY = {
  method: 'tools/call',
  params: { name: 'deploy', arguments: { env: 'staging' } },
} as const satisfies LogicalCall;

/** Makes the call, and says yes, or four stars. Returns the result's text. */
export async function called(
  hosting: Hosting,
  request: { readonly client?: ClientKind; readonly call?: LogicalCall; readonly caller?: AuthInfo } = {},
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

/** A v1 client and a v2 client are both asked, beside another route and pages, and a page of another site is rejected. */
export async function asksBoth(url: URL, other: string): Promise<void> {
  for (const client of ['modern', 'legacy'] as const)
    expect(await called(listeningAt(url), { client })).toBe('Deployed to staging.');
  expect(await (await fetch(new URL('/', url))).text()).toEqual(other);
  const body = new URLSearchParams({ decision: 'approve' });
  const pressed = await fetch(new URL('/approve/start', url), { method: 'POST', body });
  expect(await pressed.text()).toBe('The form says decision=approve.');
  for (const path of ['/approve', '/approve;x', '/approve/start;x', '/APPROVE/start']) {
    const answer = await fetch(new URL(path, url), requestInit('tools/list'));
    expect(await answer.text()).not.toContain('"tools"');
  }
  expect((await fetch(url, { method: 'POST', headers: { origin: 'https://example.com' } })).status).toBe(403);
}

const tokenOf = (user: string) => `${user}-secret-of-16+`;

/** Makes the call as ada or bob. With the response to an earlier call, answers its question with yes. */
export function callAs(user: string, url: URL, asked?: Posted): Promise<Posted> {
  const inputResponses = { sure: { action: 'accept', content: { sure: true } } };
  const params = asked ? { inputResponses, requestState: asked.result?.requestState } : {};
  const headers = { authorization: `Bearer ${tokenOf(user)}` };
  return poster(url)('tools/call', { ...DEPLOY.params, ...params }, { headers });
}

/** Users of both eras are asked. Nobody answers the question of another user, or gets in without a token. */
export async function keepsUsersApart(url: URL): Promise<void> {
  expect((await fetch(url, { method: 'POST' })).status).toBe(401);
  for (const client of ['modern', 'legacy'] as const) {
    const caller = { ...callerNamed('ada'), token: tokenOf('ada') };
    expect(await called(listeningAt(url), { client, caller })).toBe('Deployed to staging.');
  }
  const asked = await callAs('ada', url);
  expect((await callAs('bob', url, asked)).error).toMatchObject(REJECTED);
  expect(resultText((await callAs('ada', url, asked)).result ?? {})).toBe('Deployed to staging.');
}
