/** The recipe's bank on a real port, calls that wait for its approval page, and browsers of its users. */
import { MemoryLedger, type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import { observe } from '@mrtr/core/events';
import { Conversation, callerNamed, foreignHosting, type RoundResult } from '@mrtr/harness';
import { resultText } from '@mrtr/harness/transcript';
import { listVerifier, type PageSet, serveHttp } from '@mrtr/hosting/http';
import { type ApprovalPage, type ApprovalPageOptions, approvalPage } from '@mrtr/pages';
import { createServer } from './approval.ts';

export type Bank = Awaited<ReturnType<typeof openBank>>;

export const userOf = ({ headers }: Request) => /(?:^|; )user=(\w+)/.exec(headers.get('cookie') ?? '')?.[1];

/** A page whose retries do not wait for its user. */
export const impatientPage =
  (more: Partial<ApprovalPageOptions> = {}) =>
  (policy: RequestStatePolicy, url: () => URL): ApprovalPage =>
    approvalPage({
      ...{ policy, url, identifyBrowser: userOf, waitSeconds: 0, maxAsks: 10, onerror: () => {} },
      ...more,
    });

/** The accepted form that holds the link, which approves nothing by itself. */
const ACCEPT = { sure: { action: 'accept', content: {} } } as const;

/** @param pages other pages of the site. */
export async function openBank(makePage = impatientPage(), pages: readonly PageSet[] = []) {
  const policy = requestStatePolicy({
    keys: ['k'.repeat(32)],
    ledger: new MemoryLedger(),
    principal: ({ http }) => http?.authInfo?.extra?.sub as string | undefined,
  });
  const site = () => new URL(`http://localhost:${hosting.url.port}`);
  const page = makePage(policy, () => new URL('/approve', site()));
  const caller = { ...callerNamed('ada'), token: 'the-token-of-ada' };
  const hosting = await serveHttp(
    { server: () => createServer(policy, page) },
    {
      verifier: listVerifier(`ada=${caller.token}`),
      pages: [page, ...pages],
      drainSeconds: 1,
    },
  );
  const conversations: Conversation[] = [];
  const assurances: string[] = [];
  const stop = observe('mrtr:approval', ({ receipt }) => receipt && assurances.push(receipt.assurance));
  return {
    site,
    /** The assurances of the bank's receipts. */
    assurances,
    /** Ada's client, which shows forms, calls `pay`. */
    async pay(euros: number, payee = 'Bob') {
      const call = { method: 'tools/call', params: { name: 'pay', arguments: { payee, euros } } } as const;
      const conversation = await Conversation.start({ client: 'modern', call, caller }, () =>
        foreignHosting({ kind: 'http', url: hosting.url }),
      );
      conversations.push(conversation);
      return waiting(conversation.first);
    },
    /** Ada's browser opens a link, and she presses a button. */
    async press(link: string, decision = 'approve') {
      const headers = { cookie: 'user=ada', origin: site().origin };
      const token =
        /name="token" value="([^"]+)"/.exec(await (await fetch(link, { headers })).text())?.[1] ?? '';
      const body = new URLSearchParams({ decision, token });
      return fetch(link, { method: 'POST', headers, body, redirect: 'manual' });
    },
    async close() {
      for (const conversation of conversations) await conversation.close();
      stop();
      await hosting.close();
    },
  };
}

/** A call that asks. `answer` retries for the result; undefined while the question is asked again. */
function waiting(first: RoundResult) {
  let round = first;
  const message = () => round.questions.sure?.message ?? '';
  return {
    message,
    link: /http:\S+/.exec(message())?.[0] ?? '',
    async answer(replies: Parameters<RoundResult['answer']>[0] = ACCEPT): Promise<string | undefined> {
      round = await round.answer(replies);
      return round.end?.result && resultText(round.end.result);
    },
  };
}
