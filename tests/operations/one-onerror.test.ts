/** One `onerror`, given in one place, gets each thing that a server rejects, once. */
import { protectedServer, requestStatePolicy, textResult, words } from '@mrtr/core';
import { OperatorWarning } from '@mrtr/core/events';
import { processWide } from '@mrtr/core/internal';
import { readPosted, requestInit } from '@mrtr/harness/internal';
import { listVerifier, serveHttp } from '@mrtr/hosting/http';
import { approvalPage, MemoryInteractions } from '@mrtr/pages';
import type { InteractionStore } from '@mrtr/pages/store';
import { journal } from '@mrtr/shapes/journal';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';

type OnError = (error: Error) => void;
interface Places {
  readonly policy?: OnError;
  readonly mount?: OnError;
  readonly page?: OnError;
}

/** A bank on a real port, with an approval page, and what an attacker and a failing store do to it. */
async function openBank(places: Places) {
  const policy = requestStatePolicy({
    principal: ({ http }) => http?.authInfo?.extra?.sub as string | undefined,
    ...(places.policy && { onerror: places.policy }),
  });
  const memory = new MemoryInteractions();
  let isGone = false;
  const store: InteractionStore = {
    add: async (added) => {
      if (isGone) throw new Error('The store is gone.');
      return memory.add(added);
    },
    find: (id) => memory.find(id),
    replace: (...change) => memory.replace(...change),
  };
  const page = approvalPage({
    policy,
    store,
    url: () => new URL('/approve', site),
    identifyBrowser: ({ headers }) => /user=(\w+)/.exec(headers.get('cookie') ?? '')?.[1],
    ...(places.page && { onerror: places.page }),
  });
  const http = await serveHttp(
    {
      server() {
        const server = protectedServer({ name: 'bank', version: '1.0.0' }, policy);
        const pay = journal(async (_input: object, ctx) => {
          const labels = { approve: 'Pay', refuse: 'Do not pay' };
          await ctx.ask('sure', await page.question(ctx.request, words`Pay ${5}?`, labels));
          return textResult('Paid.');
        });
        server.registerTool('pay', { inputSchema: z.object({}) }, pay);
        return server;
      },
    },
    {
      verifier: listVerifier('ada=the-token-of-ada'),
      pages: [page],
      allowedHosts: ['localhost'],
      drainSeconds: 0.1,
      ...(places.mount && { onerror: places.mount }),
    },
  );
  onTestFinished(() => http.close());
  const site = new URL(`http://localhost:${http.url.port}`);
  const call = async (more: object = {}) => {
    const init = requestInit(
      'tools/call',
      { name: 'pay', arguments: {}, ...more },
      { capabilities: { elicitation: { url: {} } } },
    );
    const headers = { ...(init.headers as object), authorization: 'Bearer the-token-of-ada' };
    return readPosted(await fetch(new URL('/mcp', site), { ...init, headers }));
  };
  const link = /http:[^\s"\\]+/.exec(JSON.stringify(await call()))?.[0] as string;
  const browse = async (init: RequestInit = {}) =>
    (await fetch(link, { ...init, headers: { cookie: 'user=eve', origin: site.origin } })).status;
  return {
    open: async () => expect(await browse()).toBe(404),
    press: async () => expect(await browse({ method: 'POST' })).toBe(404),
    forge: async () => expect((await call({ requestState: 'forged' })).error).toMatchObject({ code: -32602 }),
    lose: async () => {
      isGone = true;
      expect((await call()).result).toMatchObject({ isError: true });
      isGone = false;
    },
    misname: async () => expect((await fetch(http.url)).status).toBe(403),
  };
}

const FOREIGN = expect.stringMatching(/^The start page .* was rejected: it belongs to another user\./);
const FORGED = expect.stringMatching(/^requestState rejected: invalid \(malformed\) \[call /);
const LOST = expect.stringMatching(
  /^The store is gone\. \[call [\w-]{22}, caller [\w-]{22}, tools\/call pay\]$/,
);
const MISNAMED = expect.stringMatching(/^A request for the host '127\.0\.0\.1/);

async function attack({ open, press, forge, lose, misname }: Awaited<ReturnType<typeof openBank>>) {
  for (const one of [open, press, forge, lose, misname]) await one();
}

test.each<[place: string, places: (onerror: OnError) => Places]>([
  ['the policy', (onerror) => ({ policy: onerror })],
  ['the mount', (onerror) => ({ mount: onerror })],
  ['both', (onerror) => ({ policy: onerror, mount: onerror })],
  ['the policy, the mount and the page', (onerror) => ({ policy: onerror, mount: onerror, page: onerror })],
])('one function that was given to %s gets each rejection once', async (_place, places) => {
  const errors: Error[] = [];
  await attack(await openBank(places((error) => errors.push(error))));
  const lost = places(() => {}).page ? 'The store is gone.' : LOST;
  expect(errors.map(({ message }) => message)).toEqual([FOREIGN, FOREIGN, FORGED, lost, MISNAMED]);
  expect(errors[0]).toBeInstanceOf(OperatorWarning);
  expect(errors[0]).toMatchObject({ reason: 'page_rejected' });
});

test('two functions, of the policy and of the mount, hear both of calls and pages', async () => {
  const [policy, mount]: [string[], string[]] = [[], []];
  await attack(
    await openBank({
      policy: ({ message }) => policy.push(message),
      mount: ({ message }) => mount.push(message),
    }),
  );
  expect(policy).toEqual([FOREIGN, FOREIGN, FORGED, LOST]);
  expect(mount).toEqual([FOREIGN, FOREIGN, FORGED, LOST, MISNAMED]);
});

test('a page with its own function reports there alone', async () => {
  const [page, others]: [string[], string[]] = [[], []];
  const onerror = ({ message }: Error) => others.push(message);
  const bank = await openBank({ policy: onerror, mount: onerror, page: ({ message }) => page.push(message) });
  await attack(bank);
  expect([page, others]).toEqual([
    [FOREIGN, FOREIGN, 'The store is gone.'],
    [FORGED, MISNAMED],
  ]);
});

test('without any, the process warns once of each kind', async () => {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const forgetKinds = () => processWide('kinds-of-error', () => new Set<string>()).clear();
  onTestFinished(() => {
    emitted.mockRestore();
    forgetKinds();
  });
  forgetKinds();
  const bank = await openBank({});
  await attack(bank);
  await attack(bank);
  const warned = emitted.mock.calls as unknown as readonly [message: string, { readonly code: string }][];
  const errors = warned.filter(([, { code }]) => code === 'MRTR_ERROR');
  expect(errors.map(([message]) => message)).toEqual([
    FOREIGN,
    FORGED,
    expect.stringMatching(/^The store is gone/),
    MISNAMED,
  ]);
});
