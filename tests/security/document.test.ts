/** Checks docs/security.md: the tests that it names exist, and its limits hold. */
import { inputRequired, isInputRequiredResult } from '@modelcontextprotocol/server';
import { MemoryLedger, requestStatePolicy, textResult } from '@mrtr/core';
import { tokenLength } from '@mrtr/core/shape';
import { createWorld, GET_WEATHER, Units } from '@mrtr/example-tools';
import { Deferred, InProcess } from '@mrtr/harness';
import { option as h } from '@mrtr/option-h';
import { MemoryInteractions, pendingInteractions } from '@mrtr/pages';
import { ContinuationStore, type LinearContext, linear, type Turn } from '@mrtr/shapes/linear';
import { expect, onTestFinished, test, vi } from 'vitest';
import { partsOf } from '../../packages/core/src/admission/policy.ts';
import { requestOf } from '../../packages/shapes/src/fixture.test-support.ts';
import { heldBytes } from '../../packages/shapes/src/kit/held-bytes.ts';
import { nested } from '../fuzz/hostile-values.ts';
import { clock, keeping, policyOf, presented, siteWith } from '../fuzz/sites.ts';
import { projectFiles, textOf } from '../testkit/project-files.ts';
import { REJECTED } from '../testkit/rejected.ts';
import { HOSTING_HOLDS } from './hosting-limits.test-support.ts';
import { LIMITS } from './limits.ts';

const DOCUMENT = textOf('docs/security.md');
const KEYS = ['k'.repeat(32)];

/** The guarantees, each in one line. */
const guarantees = [...DOCUMENT.matchAll(/^\d+\. [\s\S]*?(?=^\d+\. |^## )/gm)].map(([text]) =>
  text.replace(/\s+/g, ' '),
);
/** The tests that a guarantee names: a file, and phrases of their names. */
const witnesses = guarantees.flatMap((text) =>
  [...text.matchAll(/`([\w/.-]+\.ts)`: ((?:“[^”]+”(?:, )?)+)/g)].flatMap(([, file, phrases]) =>
    [...(phrases as string).matchAll(/“([^”]+)”/g)].map(
      ([, phrase]) => [phrase as string, file as string] as const,
    ),
  ),
);

test('every guarantee names its tests', () => {
  expect(guarantees).toHaveLength(18);
  for (const text of guarantees) expect(text).toMatch(/`[\w/.-]+\.ts`: “/);
});

test.each(witnesses)('the test “%s” is in %s', (phrase, file) => {
  expect(projectFiles()).toContain(file);
  expect(textOf(file).replace(/\s+/g, ' ')).toContain(phrase);
});

const site = () => siteWith(policyOf({ keys: KEYS }), 'shop');
const CALL = { method: 'tools/call', target: 'ask' } as const;

/** Parks `count` calls in a store, and returns the result of one more. */
async function oneMoreParked(count: number, principalOf: (n: number) => string | undefined): Promise<string> {
  const store = new ContinuationStore();
  const asking = linear(
    async (_: unknown, { elicit }) => textResult((await elicit('Which units?', Units)).units),
    { store },
  );
  const { request } = site();
  const park = (n: number) => request({ ...CALL, principal: principalOf(n) }, (ctx) => asking({}, ctx));
  for (let n = 0; n < count; n++) expect(isInputRequiredResult(await park(n))).toBe(true);
  const refused = await park(0);
  await store.close();
  return JSON.stringify(refused);
}

/** The results of a call whose arguments hold exactly the limit of bytes, and of one with a byte more. */
const parksBytes = (limit: number, principal: string | undefined) =>
  Promise.all(
    [limit, limit + 1].map((bytes) => {
      const input = 'x'.repeat(bytes - heldBytes(''));
      const { call, ctx } = requestOf({ principal }, { signal: new AbortController().signal });
      const handler = (_input: never, { elicit }: LinearContext) => elicit('Which units?', Units);
      return kindOf(new ContinuationStore().round({ handler, input, id: undefined, call, ctx }));
    }),
  );

const kindOf = (turn: Promise<Turn>): Promise<string> =>
  turn.then(
    ({ kind }) => kind,
    ({ code }) => code,
  );

/** The results of calls in a store with one place, whose handlers hang after their clients have cancelled. */
async function abandonedAfter(count: number, principal: string | undefined): Promise<Set<string>> {
  const store = new ContinuationStore({ maxFrames: 1, onerror: () => {} });
  const ends = new Set<string>();
  for (let n = 0; n < count; n++) {
    const client = new AbortController();
    const { call, ctx } = requestOf({ principal }, { signal: client.signal });
    const handler = () => new Promise(() => {});
    void kindOf(store.round({ handler, input: {}, id: undefined, call, ctx })).then((kind) => ends.add(kind));
    client.abort();
    await new Promise(setImmediate);
  }
  return ends;
}

/** The places that are taken after `count` calls that were cancelled and go on, and one that runs. */
async function placesAfterCancelling(count: number, principal: string | undefined) {
  const policy = policyOf({ keys: KEYS, maxCalls: 5000, maxCallsPerPrincipal: 5000 });
  const { request } = siteWith(policy, 'shop');
  for (let n = 0; n < count; n++) {
    const client = new AbortController();
    void request({ ...CALL, principal, signal: client.signal }, () => new Promise(() => {}));
    await new Promise(setImmediate);
    client.abort();
  }
  const { running, abandoned } = partsOf(policy);
  return { running: running.total, abandoned: abandoned.total };
}

/** Serves `count` calls at once, and returns the result of one more. */
async function oneMoreServed(count: number, principalOf: () => string | undefined): Promise<string> {
  const { request, log } = site();
  const gate = new Deferred();
  const serve = async () => {
    await gate.promise;
    return { content: [] };
  };
  const running = Array.from({ length: count }, () => request({ ...CALL, principal: principalOf() }, serve));
  const refused = await presented({ request, log }, { ...CALL, principal: principalOf() });
  gate.open();
  expect(await Promise.all(running)).toEqual(running.map(() => ({ content: [] })));
  return 'refused' in refused ? String(refused.refused) : 'served';
}

const presentedBy = (id: string, principal: string | undefined) => ({
  id,
  answers: '',
  issuedAt: 0,
  expiresAt: 600_000,
  leaseSeconds: 300,
  principal,
  now: 0,
});

async function fillsLedger(limit: number, principal: string | undefined): Promise<void> {
  const ledger = new MemoryLedger({ now: () => 0 });
  for (let n = 0; n < limit; n++) await ledger.claim(presentedBy(`${n}`, principal));
  await expect(ledger.claim(presentedBy('one more', principal))).rejects.toMatchObject({
    code: 'store_full',
  });
}

/** The later claims of tokens whose results have exactly the limit of bytes, and a byte more. */
const recorded = (limit: number, principal: string | undefined) =>
  Promise.all(
    [limit, limit + 1].map(async (bytes) => {
      const ledger = new MemoryLedger({ now: () => 0 });
      const claim = await ledger.claim(presentedBy('it', principal));
      if (claim.kind !== 'first') throw new Error(`The ledger answered ${claim.kind}.`);
      await ledger.settle('it', claim.lease, 'x'.repeat(bytes));
      return (await ledger.claim(presentedBy('it', principal))).kind;
    }),
  );

async function fillsInteractions(limit: number, principalOf: (n: number) => string): Promise<void> {
  const store = new MemoryInteractions({ now: () => 0 });
  const add = (n: number) => store.add({ id: `${n}`, principal: principalOf(n), value: '', ttlSeconds: 1 });
  for (let n = 0; n < limit; n++) expect(await add(n)).toBe(true);
  await expect(add(limit)).rejects.toMatchObject({ code: 'store_full' });
}

/** A call that has sent its user to a page, and its retries, each after the one before. */
async function pageOpen(settings: { readonly waitSeconds?: number } = { waitSeconds: 0 }) {
  const policy = policyOf({ keys: KEYS, ttlSeconds: 3600 });
  const { request } = siteWith(policy, 'shop');
  const link = pendingInteractions({
    policy,
    url: 'https://shop.example/link',
    identifyBrowser: () => undefined,
    start: () => 'https://other.example/',
    finish: () => undefined,
    ...settings,
  });
  let state: string | undefined;
  const ask = async () => {
    const answered = state !== undefined && { state, answers: { link: { action: 'accept' } } };
    const result = await request({ ...CALL, principal: 'ada', ...answered }, async (ctx) => {
      const { request: asked } = await link.question(ctx, 'Link it.');
      return inputRequired({ inputRequests: { link: asked } });
    });
    state = (result as { requestState?: string }).requestState;
    return result;
  };
  await ask();
  return { ask };
}

/** Checks for each limit: the behaviour at the limit, and one above it. */
const HOLDS: Readonly<Record<string, (limit: number) => unknown>> = {
  'sealed state, in bytes': async (limit) => {
    const { request } = site();
    const size = Array.from({ length: limit }, (_, bytes) => bytes).findLast(
      (bytes) => tokenLength([], { payload: 'x'.repeat(bytes), version: undefined }) <= limit,
    ) as number;
    const fits = (await request(CALL, keeping('x'.repeat(size)))) as { requestState: string };
    // The length of base64 is never one more than a multiple of four.
    expect(limit - fits.requestState.length).toBeLessThan(2);
    await expect(request(CALL, keeping('x'.repeat(size + 1)))).rejects.toMatchObject({ code: -32603 });
    const log = site();
    const state = 'v1.'.padEnd(limit + 1, 'A');
    expect((await presented(log, { ...CALL, state })) as unknown).toMatchObject({ refused: REJECTED });
    expect(log.log()).toEqual(['requestState of tools/call ask rejected: too_large']);
  },
  'rounds of one call that ask': async (limit) => {
    const { request } = site();
    let result = await request(CALL, keeping('again'));
    for (let round = 1; round <= limit; round++) {
      expect(isInputRequiredResult(result), `round ${round}`).toBe(true);
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
    expect(partsOf(requestStatePolicy({ singleUse: 'replay' })).singleUse?.leaseSeconds).toBe(limit);
  },
  'time for a ledger to decide, in seconds': async (limit) => {
    expect(partsOf(requestStatePolicy({ singleUse: 'replay' })).singleUse?.claimSeconds).toBe(limit);
  },
  'recorded result, in bytes': async (limit) => {
    expect(partsOf(requestStatePolicy({ singleUse: 'replay' })).singleUse?.maxResultBytes).toBe(limit);
  },
  'calls served at once': async (limit) => {
    expect(await oneMoreServed(limit, () => undefined)).toContain('This server has too many calls running');
  },
  'calls of one principal served at once': async (limit) => {
    expect(await oneMoreServed(limit, () => 'ada')).toContain('You have too many calls running');
  },
  'cancelled calls whose handlers run': async (limit) => {
    const places = await placesAfterCancelling(limit + 1, undefined);
    expect(places).toEqual({ running: 1, abandoned: limit });
  },
  'cancelled calls of one principal whose handlers run': async (limit) => {
    expect(await placesAfterCancelling(limit + 1, 'ada')).toEqual({ running: 1, abandoned: limit });
  },
  'parked frames in all': async (limit) => {
    expect(await oneMoreParked(limit, () => undefined)).toContain(
      'This server has too many unanswered calls open',
    );
  },
  'parked frames of one principal': async (limit) => {
    expect(await oneMoreParked(limit, () => 'ada')).toContain('You have too many unanswered calls open');
  },
  'arguments of parked frames, in bytes': async (limit) => {
    expect(await parksBytes(limit, undefined)).toEqual(['asked', 'store_full']);
  },
  "arguments of one principal's parked frames, in bytes": async (limit) => {
    expect(await parksBytes(limit, 'ada')).toEqual(['asked', 'store_full']);
  },
  'time parked, in seconds': async (limit) => {
    vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const running = h.create({
      world: createWorld(),
      state: requestStatePolicy({ keys: KEYS, singleUse: false }),
    });
    const served = new InProcess(() => running.server());
    onTestFinished(() => served.close());
    await served.post('tools/call', { name: GET_WEATHER, arguments: { location: 'Tokyo' } });
    vi.advanceTimersByTime(limit * 1000 - 1);
    expect(running.framesHeld?.()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(running.framesHeld?.()).toBe(0);
  },
  'abandoned handlers': async (limit) => {
    expect(await abandonedAfter(limit + 1, undefined)).toEqual(new Set());
    expect(await abandonedAfter(limit + 2, undefined)).toEqual(new Set(['store_full']));
  },
  'abandoned handlers of one principal': async (limit) => {
    expect(await abandonedAfter(limit + 1, 'ada')).toEqual(new Set());
    expect(await abandonedAfter(limit + 2, 'ada')).toEqual(new Set(['store_full']));
  },
  'ledger entries': async (limit) => {
    await fillsLedger(limit, undefined);
  },
  'ledger entries of one principal': async (limit) => {
    await fillsLedger(limit, 'ada');
  },
  'recorded results, in bytes': async (limit) => {
    expect(await recorded(limit, undefined)).toEqual(['settled', 'lost']);
  },
  'recorded results of one principal, in bytes': async (limit) => {
    expect(await recorded(limit, 'ada')).toEqual(['settled', 'lost']);
  },
  'pending interactions': async (limit) => {
    await fillsInteractions(limit, (n) => `user ${n}`);
  },
  'pending interactions of one principal': async (limit) => {
    await fillsInteractions(limit, () => 'ada');
  },
  'one pending interaction, in bytes': async (limit) => {
    const add = (bytes: number) =>
      new MemoryInteractions().add({ id: '', principal: '', value: 'x'.repeat(bytes), ttlSeconds: 1 });
    expect(await add(limit)).toBe(true);
    await expect(add(limit + 1)).rejects.toMatchObject({ code: 'store_full' });
  },
  'time for a pending interaction, in seconds': async (limit) => {
    const began = clock.now;
    onTestFinished(() => {
      clock.now = began;
    });
    const { ask } = await pageOpen();
    clock.now = began + limit * 1000 - 1;
    expect(isInputRequiredResult(await ask())).toBe(true);
    clock.now = began + limit * 1000;
    await expect(ask()).rejects.toMatchObject({ code: 'interaction_unfinished' });
  },
  'time that a retry waits for a page, in seconds': async (limit) => {
    const { ask } = await pageOpen({});
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let over = false;
    const asked = ask().finally(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(limit * 1000 - 1);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isInputRequiredResult(await asked)).toBe(true);
  },
  'times that a call sends its user to a page': async (limit) => {
    const { ask } = await pageOpen();
    for (let times = 1; times < limit; times++) expect(isInputRequiredResult(await ask())).toBe(true);
    await expect(ask()).rejects.toMatchObject({ code: 'interaction_unfinished' });
  },
};

test('every limit in the document is tested, and every tested limit is in the document', () => {
  expect([...LIMITS.keys()]).toEqual([...Object.keys(HOLDS), ...Object.keys(HOSTING_HOLDS)]);
});

// `hosting-limits.test.ts` tries those of hosting.
test.each(Object.entries(HOLDS).map(([limit, holds]) => [limit, LIMITS.get(limit) ?? 0, holds] as const))(
  'the limit that the document gives is the one that holds: %s, %i',
  async (_limit, value, holds) => {
    await holds(value);
  },
  20_000,
);
