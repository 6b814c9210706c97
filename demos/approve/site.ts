/** A server of the tool, with its approval page. */
import { randomBytes } from 'node:crypto';
import type { World } from '@mrtr/comparison';
import { approval, MemoryLedger, requestStatePolicy } from '@mrtr/core';
import { type HostedInstance, recordVisit } from '@mrtr/harness';
import { approvalPage } from '@mrtr/pages';
import type { AskYes, CreateServer } from './tracker.ts';

/** The place of a yes: the client's form, a form in which the user types the item's number, or the page. */
export type Where = 'form' | 'typed-form' | 'page';

const LABELS = { approve: 'Change it', refuse: 'Leave it' };
const SESSION = 'session=of-ada';

/** @param url the address of the page. */
export function siteOf(
  createServer: CreateServer,
  where: Where,
  state = requestStatePolicy({ keys: [randomBytes(32)], ledger: new MemoryLedger() }),
  url: string | (() => string) = 'https://tracker.example/approve',
) {
  const policy = state.with({ principal: ({ http }) => http?.authInfo?.extra?.sub as string | undefined });
  const page = approvalPage({
    policy,
    url,
    // Put your own site's session here.
    identifyBrowser: ({ headers }) =>
      headers.get('cookie') === SESSION ? { principal: 'ada', account: 'ada@tracker.example' } : undefined,
    resume: 'same-call',
    // Do not wait: this client retries when its user has decided, and a client that never asks its user should end
    // soon.
    waitSeconds: 0,
    maxAsks: 2,
  });
  const askYes: AskYes = (ctx, words, id) => {
    if (where === 'page') return page.question(ctx, words, { ...LABELS, details: { Item: id } });
    return approval(words, { ...LABELS, ...(where === 'typed-form' && { type: `${id}` }) });
  };
  return {
    page,
    instance: (world: World): HostedInstance => ({ server: () => createServer(policy, askYes, world) }),

    /** Ada's browser opens a link, and she presses a button. */
    async press(link: string, decision: 'approve' | 'refuse') {
      const { origin } = new URL(link);
      const open = async (init: { readonly method?: string; readonly body?: URLSearchParams } = {}) => {
        const response = await page.fetch(
          new Request(link, { ...init, headers: { cookie: SESSION, origin } }),
        );
        recordVisit(link, response.status);
        return response.text();
      };
      const token = /name="token" value="([^"]+)"/.exec(await open())?.[1] ?? '';
      await open({ method: 'POST', body: new URLSearchParams({ decision, token }) });
    },
  };
}

export type Site = ReturnType<typeof siteOf>;
