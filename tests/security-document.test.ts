/** docs/security.md says what is: the tests that it names are there, and the limits that it gives hold. */
import {
  isInputRequiredResult,
  MemoryLedger,
  requestStatePolicy,
  type ServerContext,
  tokenLength,
} from '@mrtr/core';
import { listVerifier, serveHttp } from '@mrtr/hosting/http';
import { option as h } from '@mrtr/option-h';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { createWorld, GET_WEATHER } from '@mrtr/tools';
import { expect, onTestFinished, test, vi } from 'vitest';
import { nested } from './fuzz/hostile-values.ts';
import { clock, keeping, policyOf, presented, type SiteAuthor, siteWith } from './fuzz/sites.ts';
import { posting, REJECTED } from './testkit/posting.ts';
import { projectFiles, textOf } from './testkit/project-files.ts';

const DOCUMENT = textOf('docs/security.md');
const KEYS = ['k'.repeat(32)];

/** The guarantees, each in one line. */
const guarantees = [...DOCUMENT.matchAll(/^\d+\. [\s\S]*?(?=^\d+\. |^## )/gm)].map(([text]) =>
  text.replace(/\s+/g, ' '),
);
/** What a guarantee names as its tests: a file, and phrases of the names in it. */
const witnesses = guarantees.flatMap((text) =>
  [...text.matchAll(/`([\w/.-]+\.ts)`: ((?:“[^”]+”(?:, )?)+)/g)].flatMap(([, file, phrases]) =>
    [...(phrases as string).matchAll(/“([^”]+)”/g)].map(
      ([, phrase]) => [phrase as string, file as string] as const,
    ),
  ),
);

test('every guarantee names its tests', () => {
  expect(guarantees).toHaveLength(14);
  for (const text of guarantees) expect(text).toMatch(/`[\w/.-]+\.ts`: “/);
});

test.each(witnesses)('the test “%s” is in %s', (phrase, file) => {
  expect(projectFiles()).toContain(file);
  expect(textOf(file).replace(/\s+/g, ' ')).toContain(phrase);
});

const site = () => siteWith(policyOf({ keys: KEYS }), 'shop');
const CALL = { method: 'tools/call', target: 'ask' } as const;

/** A frame that waits until it is aborted. */
const waiting = (store: ContinuationStore): SiteAuthor => {
  const callback = linear(
    (_: unknown, { signal }) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    { store },
  );
  return (ctx: ServerContext) => callback({}, ctx);
};

/** Fills a store with `count` calls, and tells what becomes of one more. */
async function oneMore(count: number, principalOf: (n: number) => string | undefined): Promise<string> {
  const store = new ContinuationStore();
  const { request } = site();
  const running = Array.from({ length: count }, (_, n) =>
    request({ ...CALL, principal: principalOf(n) }, waiting(store)),
  );
  // The boundary enters a handler at once; the rejections of the end are none of ours.
  for (const call of running) call.catch(() => {});
  const last = await request({ ...CALL, principal: principalOf(0) }, waiting(store));
  await store.close();
  const refusedBefore = (await Promise.all(running)).filter((result) =>
    JSON.stringify(result).includes('too many'),
  );
  expect(refusedBefore).toEqual([]);
  return JSON.stringify(last);
}

/** What holds at the limit, and one beyond it. */
const HOLDS: Readonly<Record<string, (limit: number) => unknown>> = {
  'sealed state, in bytes': async (limit) => {
    const { request } = site();
    const size = Array.from({ length: limit }, (_, bytes) => bytes).findLast(
      (bytes) => tokenLength(bytes) <= limit,
    ) as number;
    const fits = (await request(CALL, keeping('x'.repeat(size)))) as { requestState: string };
    // Base64 has no text that is one character longer than a multiple of four.
    expect(limit - fits.requestState.length).toBeLessThan(2);
    await expect(request(CALL, keeping('x'.repeat(size + 1)))).rejects.toMatchObject({ code: -32603 });
    const log = site();
    const state = 'v1.'.padEnd(limit + 1, 'A');
    expect((await presented(log, { ...CALL, state })) as unknown).toMatchObject({ refused: REJECTED });
    expect(log.log()).toEqual(['requestState of tools/call ask rejected: too_large']);
  },
  'rounds of one call': async (limit) => {
    const { request } = site();
    let result = await request(CALL, keeping('again'));
    for (let round = 2; round <= limit; round++) {
      expect(isInputRequiredResult(result), `round ${round - 1}`).toBe(true);
      result = await request(
        { ...CALL, state: (result as { requestState: string }).requestState },
        keeping('again'),
      );
    }
    expect(result).toMatchObject({ isError: true });
  },
  'questions of one round': async (limit) => {
    const ask = (count: number) =>
      site().request(CALL, () => ({
        resultType: 'input_required',
        inputRequests: Object.fromEntries(Array.from({ length: count }, (_, n) => [n, {}])),
      }));
    expect(isInputRequiredResult(await ask(limit))).toBe(true);
    await expect(ask(limit + 1)).rejects.toMatchObject({ code: -32603 });
  },
  'one answer, in bytes of JSON': async (limit) => {
    const of = (bytes: number) => ({ a: { x: 'x'.repeat(bytes - '{"x":""}'.length) } });
    expect(await presented(site(), { ...CALL, answers: of(limit) })).toHaveProperty('entered');
    expect(await presented(site(), { ...CALL, answers: of(limit + 1) })).toHaveProperty(
      'refused.code',
      -32602,
    );
  },
  'levels of arguments and answers': async (limit) => {
    const keep = (levels: number) =>
      site().request({ ...CALL, arguments: nested(levels, true) }, keeping('kept'));
    expect(isInputRequiredResult(await keep(limit))).toBe(true);
    await expect(keep(limit + 1)).rejects.toMatchObject({ code: -32602 });
    const answer = (levels: number) =>
      presented(site(), { ...CALL, answers: { a: nested(levels, false) as object } });
    expect(await answer(limit)).toHaveProperty('entered');
    expect(await answer(limit + 1)).toHaveProperty('refused.code', -32602);
  },
  'time for one answer, in seconds': async (limit) => {
    const began = clock.now;
    onTestFinished(() => {
      clock.now = began;
    });
    const { request } = site();
    const { requestState: state } = (await request(CALL, keeping('kept'))) as { requestState: string };
    clock.now = began + limit * 1000 - 1;
    expect(await presented(site(), { ...CALL, state })).toHaveProperty('entered');
    clock.now = began + limit * 1000;
    expect((await presented(site(), { ...CALL, state })) as unknown).toMatchObject({ refused: REJECTED });
  },
  'time to serve a single-use round, in seconds': async (limit) => {
    expect(requestStatePolicy({ singleUse: 'replay' }).singleUse?.leaseSeconds).toBe(limit);
  },
  'parked frames in all': async (limit) => {
    expect(await oneMore(limit, () => undefined)).toContain('This server has too many unanswered calls open');
  },
  'parked frames of one principal': async (limit) => {
    expect(await oneMore(limit, () => 'ada')).toContain('You have too many unanswered calls open');
  },
  'time parked, in seconds': async (limit) => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const running = h.create({ world: createWorld(), state: requestStatePolicy({ keys: KEYS }) });
    const { post, close } = posting(() => running.server());
    onTestFinished(() => close());
    await post('tools/call', { name: GET_WEATHER, arguments: { location: 'Tokyo' } });
    vi.advanceTimersByTime(limit * 1000 - 1);
    expect(running.framesHeld?.()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(running.framesHeld?.()).toBe(0);
  },
  'ledger entries': async (limit) => {
    const ledger = new MemoryLedger({ now: () => 0 });
    for (let n = 0; n < limit; n++) await ledger.claim(`${n}`, 600, 300);
    await expect(ledger.claim('one more', 600, 300)).rejects.toMatchObject({ code: 'store_full' });
  },
  'request body, in bytes': async (limit) => {
    const running = h.create({ world: createWorld(), state: requestStatePolicy({ keys: KEYS }) });
    const { url, close } = await serveHttp(running, { drainMs: 5 });
    onTestFinished(close);
    const status = async (bytes: number) => {
      const body = '{}'.padEnd(bytes, ' ');
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      await response.text();
      return response.status;
    };
    expect(await status(limit)).toBe(400);
    expect(await status(limit + 1)).toBe(413);
  },
  'sessions of one owner': async (limit) => {
    const { begin } = await oldClients();
    for (let n = 0; n < limit; n++) expect((await begin('ada')).status).toBe(200);
    expect((await begin('ada')).status).toBe(503);
    expect((await begin('bob')).status).toBe(200);
  },
  'calls open in one session': async (limit) => {
    const { begin, post } = await oldClients();
    const session = (await begin('ada')).headers.get('mcp-session-id') ?? '';
    const call = (id: number) =>
      post('ada', id, 'tools/call', { name: GET_WEATHER, arguments: { location: 'Tokyo' } }, session);
    for (let id = 1; id <= limit; id++) expect((await call(id)).status).toBe(200);
    expect((await call(limit + 1)).status).toBe(429);
  },
};

/** A server for ada and bob, and requests of old clients of theirs. */
async function oldClients() {
  const running = h.create({ world: createWorld(), state: requestStatePolicy({ keys: KEYS }) });
  const verifier = listVerifier(['ada', 'bob'].map((subject) => ({ subject, token: `token-of-${subject}` })));
  const { url, close } = await serveHttp(running, { drainMs: 5, verifier });
  onTestFinished(close);
  const post = (subject: string, id: number, method: string, params: object, session?: string) =>
    fetch(url, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        authorization: `Bearer token-of-${subject}`,
        'content-type': 'application/json',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    });
  const begin = (subject: string) =>
    post(subject, 0, 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'old', version: '1.0.0' },
    });
  return { begin, post };
}

const rows = [...DOCUMENT.matchAll(/^\| ([^|]+) \| ([\d ]+) \| [^|]+ \| [^|]+ \|$/gm)].map(
  ([, limit, value]) => [limit as string, Number((value as string).replaceAll(' ', ''))] as const,
);

test('every limit in the document is tried, and every one that is tried is in the document', () => {
  expect(rows.map(([limit]) => limit)).toEqual(Object.keys(HOLDS));
});

test.each(rows)('the limit that the document gives is the one that holds: %s, %i', async (limit, value) => {
  await HOLDS[limit]?.(value);
});
