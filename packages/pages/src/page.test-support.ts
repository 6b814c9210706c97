/** A server whose tool waits for a page, and the page. */
import {
  protectedServer,
  type RequestStateOptions,
  readAnswer,
  requestStatePolicy,
  textResult,
} from '@mrtr/core';
import { callerNamed, InProcess, type Posted } from '@mrtr/harness';
import { onTestFinished } from 'vitest';
import { type PendingInteractionsOptions, pendingInteractions } from './pending-interactions.ts';

const PAGES = { elicitation: { url: {} } };
export const SIGNED_IN = { headers: { 'x-user': 'ada' } };

/** The browser says in a header whose it is. */
export function hostWithPage(
  over: Partial<PendingInteractionsOptions<string>> = {},
  options: RequestStateOptions = {},
) {
  const errors: string[] = [];
  const policy = requestStatePolicy({
    keys: ['k'.repeat(32)],
    singleUse: false,
    principal: ({ http }) => http?.authInfo?.extra?.sub as string | undefined,
    ...options,
  });
  const link = pendingInteractions<string>({
    policy,
    url: 'https://shop.example/link',
    identifyBrowser: ({ headers }) => headers.get('x-user') ?? undefined,
    start: ({ state, callbackUrl }) => `${callbackUrl}?state=${state}&code=c`,
    finish: () => 'linked',
    waitSeconds: 0,
    onerror: ({ message }) => errors.push(message),
    ...over,
  });
  const site = new InProcess(() => {
    const server = protectedServer({ name: 'shop', version: '1.0.0' }, policy);
    server.registerTool('link', {}, async (ctx) => {
      const question = await link.question(ctx, 'Link it.');
      const answer = readAnswer(ctx, 'link', question);
      if (answer.kind === 'accepted') return textResult(answer.value);
      return { resultType: 'input_required', inputRequests: { link: question.request } };
    });
    return server;
  });
  onTestFinished(() => site.close());
  const call = (params: object = {}, caller: string | undefined = 'ada'): Promise<Posted> =>
    site.post(
      'tools/call',
      { name: 'link', arguments: {}, ...params },
      { capabilities: PAGES, ...(caller !== '' && { authInfo: callerNamed(caller) }) },
    );
  const open = (url: string, init: RequestInit = SIGNED_IN) => link.fetch(new Request(url, init));
  return { link, call, open, errors };
}
