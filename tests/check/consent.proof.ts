/** Checks our own servers that ask for consent with `--needs-consent`: no finding, and the undecided checks say why. */
import { type Report, run } from '@mrtr/check';
import {
  type Approval,
  approval,
  ask,
  isRefusal,
  protectedServer,
  type Question,
  readAnswer,
  requestStatePolicy,
  type ServerContext,
  textResult,
  words,
} from '@mrtr/core';
import { freePort, RunningProcess } from '@mrtr/harness/process';
import { listVerifier, serveHttp } from '@mrtr/hosting/http';
import { type ApprovalPage, approvalPage } from '@mrtr/pages';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { findings, probeOf, verdicts } from './bare.test-support.ts';

const LABELS = { approve: 'Pay', refuse: 'Do not pay' };
const ORIGIN = 'https://shop.example';
const policy = requestStatePolicy({
  // The run approves more often than a store of used approvals allows one user.
  singleUse: false,
  principal: ({ http }) => http?.authInfo?.extra?.sub as string | undefined,
});
const headers = { 'x-user': 'ada', origin: ORIGIN };
const page = approvalPage({
  policy,
  url: `${ORIGIN}/approve`,
  identifyBrowser: (request) => request.headers.get('x-user') ?? undefined,
  resume: 'same-call',
  waitSeconds: 0,
});

/** Approves as a person does: opens the page, and presses the button. */
async function approve(url: string): Promise<void> {
  const shown = await (await page.fetch(new Request(url, { headers }))).text();
  const token = /name="token" value="([^"]+)"/.exec(shown)?.[1] ?? '';
  const body = new URLSearchParams({ decision: 'approve', token });
  await page.fetch(new Request(url, { method: 'POST', headers, body }));
}

type MakeQuestion = (ctx: ServerContext, payee: string) => Promise<Question<Approval>>;

const onPage: MakeQuestion = (ctx, payee) => page.question(ctx, words`Pay ${payee}?`, LABELS);
const pressed: MakeQuestion = async (ctx, payee) => {
  const question = await onPage(ctx, payee);
  const { url } = question.request.params as { url?: string };
  if (url !== undefined) await approve(url);
  return question;
};

const BEARER = 'Bearer the-token-of-ada';

/** `through`: starts a proxy in front of the server, and returns its address. */
async function checkShop(question: MakeQuestion, answers = {}, { pages = [], through }: Through = {}) {
  let paid = 0;
  const server = () => {
    const shop = protectedServer({ name: 'shop', version: '1.0.0' }, policy);
    const inputSchema = z.object({ payee: z.string(), confirm: z.boolean().optional() });
    shop.registerTool('pay', { inputSchema }, async ({ payee }, ctx) => {
      const sure = await question(ctx, payee);
      const answer = readAnswer(ctx, 'sure', sure);
      if (isRefusal(answer)) return textResult('Nothing was paid.');
      if (answer.kind !== 'accepted') return ask({ sure });
      paid++;
      return textResult('Paid.');
    });
    const annotations = { readOnlyHint: true };
    shop.registerTool('count', { inputSchema: z.object({}), annotations }, () => textResult(String(paid)));
    return shop;
  };
  const verifier = listVerifier('ada=the-token-of-ada');
  const { url, close } = await serveHttp({ server }, { verifier, pages });
  try {
    const ran = await run({
      address: { url: (await through?.(url)) ?? url.href, headers: { authorization: BEARER } },
      operation: { kind: 'tool', name: 'pay', arguments: { payee: 'Bob' } },
      answers,
      probe: probeOf('count'),
      needsConsent: true,
      allowEffects: true,
      only: ['consent', 'answer', 'refusal', 'effect'],
    });
    return { ran, paid };
  } finally {
    await close();
  }
}

interface Through {
  readonly pages?: readonly ApprovalPage[];
  readonly through?: (server: URL) => Promise<string>;
}

const actualOf = ({ checks }: Report, id: string): string | undefined =>
  checks.find((one) => one.id === id)?.actual;
const idsOf = (found: object) => Object.keys(found).filter((id) => id.startsWith('consent.'));
const FORM_ALONE = ['consent.empty-form', 'consent.default-yes', 'consent.false-in-form'];

test('a page that nobody opens has no effect, and no check decides anything', async () => {
  const { ran, paid } = await checkShop(onPage);
  expect(paid).toBe(0);
  expect(Object.keys(verdicts(ran, 'could-not-run'))).toHaveLength(ran.checks.length);
  expect(actualOf(ran, 'consent.unasked-effect')).toMatch(/A page decides, and the checker opens no page/);
});

test('a page on which somebody presses has no finding', async () => {
  const { ran, paid } = await checkShop(pressed);
  expect(findings(ran)).toEqual({});
  expect(idsOf(verdicts(ran, 'not-applicable'))).toEqual(FORM_ALONE);
  expect(idsOf(verdicts(ran, 'pass'))).toHaveLength(4);
  expect(actualOf(ran, 'consent.unasked-effect')).toMatch(/an agent that drives the browser defeats it/);
  expect(paid).toBeGreaterThan(0);
});

test('an approval in a form has no finding', async () => {
  const inForm: MakeQuestion = async (_, payee) => approval(words`Pay ${payee}?`, LABELS);
  const { ran } = await checkShop(inForm, { sure: { decision: 'approve' } });
  expect(findings(ran)).toEqual({});
  expect(idsOf(verdicts(ran, 'not-applicable'))).toEqual(['consent.default-yes']);
  expect(idsOf(verdicts(ran, 'pass'))).toHaveLength(6);
  expect(actualOf(ran, 'consent.false-in-form')).toMatch(/a client that picks the yes defeats it/);
});

test('the recipe presses the page of a server, and the checks of a page decide', async () => {
  let site = new URL(ORIGIN);
  const own = approvalPage({
    policy,
    url: () => new URL('/approve', site),
    identifyBrowser: ({ headers }) => (headers.get('authorization') === BEARER ? 'ada' : undefined),
    waitSeconds: 0,
  });
  const through = async (server: URL) => {
    site = server;
    const port = await freePort();
    const args = ['demos/recipes/press-pages.mjs', server.href, new URL('/approve', server).href, `${port}`];
    const proxy = new RunningProcess({ command: process.execPath, args });
    onTestFinished(() => proxy.kill());
    return proxy.until(({ out }) => /at (http:\S+)/.exec(out)?.[1]);
  };
  const asked: MakeQuestion = (ctx, payee) => own.question(ctx, words`Pay ${payee}?`, LABELS);
  const { ran, paid } = await checkShop(asked, {}, { pages: [own], through });
  expect(findings(ran)).toEqual({});
  expect(idsOf(verdicts(ran, 'pass'))).toHaveLength(4);
  expect(paid).toBeGreaterThan(0);
});
