/** A server of the tool, with its approval page. */
import { randomBytes } from 'node:crypto';
import type { World } from '@mrtr/comparison';
import { approval, MemoryLedger, type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import { type McpInstance, recordVisit } from '@mrtr/harness';
import { type ApprovalPage, approvalPage } from '@mrtr/pages';
import type { AskYes, CreateServer } from './tracker.ts';

/** The place of a yes: the client's form, a form in which the user types the item's number, or the page. */
export type Where = 'form' | 'typed-form' | 'page';

const LABELS = { approve: 'Change it', refuse: 'Leave it' };
const SESSION = 'session=of-ada';

export class Site {
  readonly page: ApprovalPage;
  readonly #policy: RequestStatePolicy;
  readonly #createServer: CreateServer;
  readonly #where: Where;

  constructor(
    createServer: CreateServer,
    where: Where,
    state = requestStatePolicy({ keys: [randomBytes(32)], ledger: new MemoryLedger() }),
    url: string | (() => string) = 'https://tracker.example/approve',
  ) {
    this.#policy = state.with({
      principal: ({ http }) => http?.authInfo?.extra?.sub as string | undefined,
    });
    this.page = approvalPage({
      policy: this.#policy,
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
    this.#createServer = createServer;
    this.#where = where;
  }

  instance(world: World): McpInstance {
    return { server: () => this.#createServer(this.#policy, this.#askYes, world) };
  }

  readonly #askYes: AskYes = (ctx, words, id) => {
    if (this.#where === 'page') return this.page.question(ctx, words, { ...LABELS, details: { Item: id } });
    return approval(words, { ...LABELS, ...(this.#where === 'typed-form' && { type: `${id}` }) });
  };

  /** Ada's browser opens a link, and she presses a button. */
  async press(url: string, decision: 'approve' | 'refuse'): Promise<void> {
    const { origin } = new URL(url);
    const open = async (init: { readonly method?: string; readonly body?: URLSearchParams } = {}) => {
      const response = await this.page.fetch(
        new Request(url, { ...init, headers: { cookie: SESSION, origin } }),
      );
      recordVisit(url, response.status);
      return response.text();
    };
    const token = /name="token" value="([^"]+)"/.exec(await open())?.[1] ?? '';
    await open({ method: 'POST', body: new URLSearchParams({ decision, token }) });
  }
}
