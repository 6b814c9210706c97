/** Payments of 10 euros or more are approved on a page of this server. For smaller ones the client's answer counts. */
import { type McpServer, protectedServer, type RequestStatePolicy, textResult, words } from '@mrtr/core';
import { type ApprovalPage, approvalPage } from '@mrtr/pages';
import { journal } from '@mrtr/shapes/journal';
import { z } from 'zod';

/** `url` is the page's public address; `userOf` finds the user of your site's own sign-in. */
export const createPage = (
  policy: RequestStatePolicy,
  url: string | (() => URL),
  userOf: (request: Request) => string | undefined,
): ApprovalPage => approvalPage({ policy, url, identifyBrowser: userOf, resume: 'same-call' });

const inputSchema = z.object({ payee: z.string(), euros: z.number().positive() });
type Payment = z.infer<typeof inputSchema>;

export function createServer(policy: RequestStatePolicy, page: ApprovalPage): McpServer {
  const server = protectedServer({ name: 'bank', version: '1.0.0' }, policy);
  const pay = journal(async ({ payee, euros }: Payment, ctx) => {
    const sure = await page.question(ctx.request, words`Pay € ${euros} to ${payee}?`, {
      approve: 'Pay',
      refuse: 'Do not pay',
      by: euros < 10 ? 'client' : 'page',
    });
    const { receipt } = await ctx.ask('sure', sure);
    // Store the receipt with the payment, in one transaction, under `ctx.idempotencyKey('pay')`.
    const paid = await ctx.once('pay', async () => `Paid € ${euros} to ${payee}, approved as ${receipt.id}.`);
    return textResult(paid);
  });
  server.registerTool('pay', { inputSchema }, pay);
  return server;
}
