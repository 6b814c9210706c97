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
import { requestInit, within } from '@mrtr/harness/internal';
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
  const { first } = conversation;
  const done = first.end ? first : await first.answer({ sure: 'yes', stars: '4', units: 'metric' });
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

/** Makes the call as ada or bob. With the response to an earlier call, answers its question: with yes, or by declining. */
export function callAs(user: string, url: URL, asked?: Posted, action = 'accept'): Promise<Posted> {
  const inputResponses = { sure: action === 'accept' ? { action, content: { sure: 'yes' } } : { action } };
  const params = asked ? { inputResponses, requestState: asked.result?.requestState } : {};
  const headers = { authorization: `Bearer ${tokenOf(user)}` };
  return poster(url)('tools/call', { ...DEPLOY.params, ...params }, { headers });
}

const CANNOT_ASK =
  'This needs a client that can be asked (elicitation), on a connection that can carry the question.';

/**
 * Users are asked, and may decline. Nobody answers the question of another user, or gets in without a token. A user of an
 * old client is asked, too; or learns at once that this server cannot, where it is `stateless`.
 *
 * @param next the address for the second round: another instance, for example.
 */
export async function keepsUsersApart(
  url: URL,
  next = url,
  legacy: 'asked' | 'stateless' = 'asked',
): Promise<void> {
  expect((await fetch(url, { method: 'POST' })).status).toBe(401);
  const caller = { ...callerNamed('ada'), token: tokenOf('ada') };
  expect(await called(listeningAt(url), { caller })).toBe('Deployed to staging.');
  const called2025 = called(listeningAt(url), { client: 'legacy', caller });
  const old = await within(20_000, called2025, () => 'The call of an old client hangs.');
  expect(old).toBe(legacy === 'asked' ? 'Deployed to staging.' : CANNOT_ASK);

  const asked = await callAs('ada', url);
  expect((await callAs('bob', next, asked)).error).toMatchObject(REJECTED);
  expect(resultText((await callAs('ada', next, asked)).result ?? {})).toBe('Deployed to staging.');
  const declined = await callAs('ada', next, await callAs('ada', url), 'decline');
  expect(resultText(declined.result ?? {})).toBe("Cancelled: the question 'sure' was not answered.");
}
