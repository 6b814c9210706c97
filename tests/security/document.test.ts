/** Checks docs/security.md: the tests that it names exist, and its limits hold. */
import { MemoryLedger, requestStatePolicy } from '@mrtr/core';
import { AbandonedQuota, type Quota } from '@mrtr/core/kit';
import { Units } from '@mrtr/example-tools';
import { requestInit } from '@mrtr/harness';
import { RunningProcess } from '@mrtr/harness/process';
import { MemoryInteractions } from '@mrtr/pages';
import { ContinuationStore, type LinearContext, type Turn } from '@mrtr/shapes/linear';
import { expect, onTestFinished, test } from 'vitest';
import { partsOf } from '../../packages/core/src/admission/policy.ts';
import { MAX_DEPTH } from '../../packages/core/src/support/canonical-json.ts';
import { BODY_DEFAULTS } from '../../packages/hosting/src/admission/body.ts';
import { CALL_DEFAULTS } from '../../packages/hosting/src/admission/call-quota.ts';
import {
  MAX_DECLARED_MEMBERS,
  MAX_INITIALIZE_BYTES,
  MAX_PAGES,
} from '../../packages/hosting/src/http/http-admission.ts';
import { SESSION_DEFAULTS } from '../../packages/hosting/src/http/sessions.ts';
import { SEND_SECONDS } from '../../packages/hosting/src/http/stalled-connections.ts';
import { UNREAD_DEFAULTS } from '../../packages/hosting/src/http/unread-bytes.ts';
import { PAGE_DEFAULTS } from '../../packages/pages/src/pending-interactions.ts';
import { requestOf } from '../../packages/shapes/src/fixture.test-support.ts';
import { heldBytes } from '../../packages/shapes/src/kit/held-bytes.ts';
import { DEFAULTS as FRAMES } from '../../packages/shapes/src/linear/continuation-store.ts';
import { projectFiles, textOf } from '../testkit/project-files.ts';

const DOCUMENT = textOf('docs/security.md');
const KEYS = ['k'.repeat(32)];

/** The tests of each guarantee, and of two sections: phrases of their names, by file. */
const WITNESSES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = JSON.parse(
  textOf('tests/security/witnesses.json'),
);
const witnesses = Object.values(WITNESSES).flatMap((named) =>
  Object.entries(named).flatMap(([file, phrases]) => phrases.map((phrase) => [phrase, file] as const)),
);

test('every guarantee names its tests', () => {
  const guarantees = [...DOCUMENT.matchAll(/^\d+\. \*\*([\s\S]+?)\*\*/gm)].map(([, title = '']) =>
    title.replace(/\s+/g, ' '),
  );
  const sections = [...DOCUMENT.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  expect(guarantees).toHaveLength(19);
  const named = Object.keys(WITNESSES);
  expect(named.filter((title) => !sections.includes(title))).toEqual(guarantees);
  for (const title of named) expect(Object.values(WITNESSES[title] ?? {}).flat(), title).not.toEqual([]);
});

/** The name of a test follows `test(`, or the `)(` of a table. It begins a row of a table, or is a method of a contract. */
const TITLE =
  /(?:\b(?:test|it|describe)(?:\.\w+)*\(|\)\(|^ +\[|^ +async )\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm;

test.each(witnesses)('the test “%s” is in %s', (phrase, file) => {
  expect(projectFiles()).toContain(file);
  const titles = [...textOf(file).matchAll(TITLE)].map(([, , title = '']) => title);
  expect(titles.filter((title) => title.includes(phrase))).not.toEqual([]);
});

/** A row has the limit of all, and perhaps that of one principal. */
const LIMITS = new Map(
  [...DOCUMENT.matchAll(/^\| ([^|]+) \| ([\d ]+) \| ([\d ]*)\| [^|]+ \| [^|]+ \|$/gm)].flatMap(
    ([, limit, ofAll = '', ofOne = '']) =>
      [[limit as string, ofAll] as const, [`${limit}, of one principal`, ofOne] as const]
        .filter(([, value]) => value !== '')
        .map(([name, value]) => [name, Number(value.replaceAll(' ', ''))] as const),
  ),
);

const policy = partsOf(requestStatePolicy({ keys: KEYS, ledger: new MemoryLedger() }));
const abandonedRequests = new AbandonedQuota({}, () => {});

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

/** Takes the limit for `owner`, and one more. */
function fills(quota: Quota, owner: string | undefined, limit: number): void {
  expect([quota.take(owner, limit), quota.take(owner)]).toEqual([undefined, owner ? 'own' : 'all']);
  quota.giveBack(owner, limit);
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
  for (let n = 0; n < limit; n++) await ledger.lease(presentedBy(`${n}`, principal));
  await expect(ledger.lease(presentedBy('one more', principal))).rejects.toMatchObject({
    code: 'store_full',
  });
}

/** The later leases of tokens whose results have exactly the limit of bytes, and a byte more. */
const recorded = (limit: number, principal: string | undefined) =>
  Promise.all(
    [limit, limit + 1].map(async (bytes) => {
      const ledger = new MemoryLedger({ now: () => 0 });
      const decision = await ledger.lease(presentedBy('it', principal));
      if (decision.kind !== 'first') throw new Error(`The ledger answered ${decision.kind}.`);
      await ledger.settle('it', decision.lease, 'x'.repeat(bytes));
      return (await ledger.lease(presentedBy('it', principal))).kind;
    }),
  );

async function fillsInteractions(limit: number, principalOf: (n: number) => string): Promise<void> {
  const store = new MemoryInteractions({ now: () => 0 });
  const add = (n: number) => store.add({ id: `${n}`, principal: principalOf(n), value: '', ttlSeconds: 1 });
  for (let n = 0; n < limit; n++) expect(await add(n)).toBe(true);
  await expect(add(limit)).rejects.toMatchObject({ code: 'store_full' });
}

/** The defaults, which the packages' own tests hold to what they limit. */
const DEFAULTS: Readonly<Record<string, number | undefined>> = {
  'sealed state, in bytes': policy.maxBytes,
  'rounds of one call that ask': policy.maxRounds,
  'questions of one round': policy.maxQuestions,
  'one answer, in bytes of JSON': policy.maxAnswerBytes,
  'levels of arguments and answers': MAX_DEPTH,
  'time for one answer, in seconds': policy.ttlSeconds,
  'time to serve a single-use round, in seconds': policy.singleUse?.leaseSeconds,
  'time for a ledger to decide, in seconds': policy.singleUse?.ledgerTimeoutSeconds,
  'recorded result, in bytes': policy.singleUse?.maxResultBytes,
  'parked frames': FRAMES.maxFrames,
  'parked frames, of one principal': FRAMES.maxFramesPerPrincipal,
  'time parked, in seconds': FRAMES.ttlSeconds,
  'abandoned handlers': FRAMES.maxAbandoned,
  'abandoned handlers, of one principal': FRAMES.maxAbandonedPerPrincipal,
  'time for a pending interaction, in seconds': PAGE_DEFAULTS.ttlSeconds,
  'time that a retry waits for a page, in seconds': PAGE_DEFAULTS.waitSeconds,
  'times that a call sends its user to a page': PAGE_DEFAULTS.maxAsks,
  'request body, in bytes': BODY_DEFAULTS.maxBodyBytes,
  'members of a request body': BODY_DEFAULTS.maxBodyMembers,
  'members of `_meta`': MAX_DECLARED_MEMBERS,
  'an `initialize`, in bytes': MAX_INITIALIZE_BYTES,
  'members of an `initialize`': MAX_DECLARED_MEMBERS,
  'time for a request body, in seconds': BODY_DEFAULTS.bodySeconds,
  'time that a client may read nothing of what it asked for, in seconds': SEND_SECONDS,
  'bytes of bodies that come in': BODY_DEFAULTS.maxIncomingBytes,
  'bytes of bodies that come in, of one principal': BODY_DEFAULTS.maxIncomingBytesPerPrincipal,
  'requests served at once': CALL_DEFAULTS.maxRequests,
  'requests served at once, of one principal': CALL_DEFAULTS.maxRequestsPerPrincipal,
  'bytes of requests served at once': CALL_DEFAULTS.maxCallBytes,
  'bytes of requests served at once, of one principal': CALL_DEFAULTS.maxCallBytesPerPrincipal,
  'subscriptions at once': CALL_DEFAULTS.maxSubscriptions,
  'subscriptions at once, of one principal': CALL_DEFAULTS.maxSubscriptionsPerPrincipal,
  'bytes of one stream that wait to be read': UNREAD_DEFAULTS.maxUnreadBytesPerStream,
  'bytes of all streams that wait to be read': UNREAD_DEFAULTS.maxUnreadBytes,
  'bytes of all streams that wait to be read, of one principal': UNREAD_DEFAULTS.maxUnreadBytesPerPrincipal,
  sessions: SESSION_DEFAULTS.maxSessions,
  'sessions, of one principal': SESSION_DEFAULTS.maxSessionsPerPrincipal,
  'bytes that sessions keep': SESSION_DEFAULTS.maxSessionBytes,
  'bytes that sessions keep, of one principal': SESSION_DEFAULTS.maxSessionBytesPerPrincipal,
  'pages served at once': MAX_PAGES,
};

/** The behaviour at a limit, and one above it, of those whose default is no value that can be read. */
const HOLDS: Readonly<Record<string, (limit: number) => unknown>> = {
  'calls served at once': (limit) => fills(policy.running, undefined, limit),
  'calls served at once, of one principal': (limit) => fills(policy.running, 'ada', limit),
  'cancelled calls whose handlers run': (limit) => fills(policy.abandoned, undefined, limit),
  'cancelled calls whose handlers run, of one principal': (limit) => fills(policy.abandoned, 'ada', limit),
  'handlers of cancelled requests': (limit) => fills(abandonedRequests, undefined, limit),
  'handlers of cancelled requests, of one principal': (limit) => fills(abandonedRequests, 'ada', limit),
  'arguments of parked frames, in bytes': async (limit) => {
    expect(await parksBytes(limit, undefined)).toEqual(['asked', 'store_full']);
  },
  'arguments of parked frames, in bytes, of one principal': async (limit) => {
    expect(await parksBytes(limit, 'ada')).toEqual(['asked', 'store_full']);
  },
  'ledger entries': async (limit) => {
    await fillsLedger(limit, undefined);
  },
  'ledger entries, of one principal': async (limit) => {
    await fillsLedger(limit, 'ada');
  },
  'recorded results, in bytes': async (limit) => {
    expect(await recorded(limit, undefined)).toEqual(['settled', 'lost']);
  },
  'recorded results, in bytes, of one principal': async (limit) => {
    expect(await recorded(limit, 'ada')).toEqual(['settled', 'lost']);
  },
  'pending interactions': async (limit) => {
    await fillsInteractions(limit, (n) => `user ${n}`);
  },
  'pending interactions, of one principal': async (limit) => {
    await fillsInteractions(limit, () => 'ada');
  },
  'pages of one principal that are over, and still kept for their calls': async (limit) => {
    const store = new MemoryInteractions();
    const add = (n: number) => store.add({ id: `${n}`, principal: 'ada', value: '', ttlSeconds: 60 });
    for (let n = 0; n < limit; n++) {
      await add(n);
      await store.replace(`${n}`, '', 'over', { principal: 'ada', ttlSeconds: 60, isOver: true });
    }
    await expect(add(limit)).rejects.toMatchObject({ code: 'store_full' });
  },
  'one pending interaction, in bytes': async (limit) => {
    const add = (bytes: number) =>
      new MemoryInteractions().add({ id: '', principal: '', value: 'x'.repeat(bytes), ttlSeconds: 1 });
    expect(await add(limit)).toBe(true);
    await expect(add(limit + 1)).rejects.toMatchObject({ code: 'store_full' });
  },
  'a line over stdio, in bytes': async (limit) => {
    const program = new RunningProcess({
      command: process.execPath,
      args: ['demos/cli/run.mjs', 'serve', 'option-h', '--stdio'],
    });
    onTestFinished(() => program.kill());
    const { stdin } = program.child;
    const line = requestInit('tools/list').body;
    stdin?.write(`${line.padEnd(limit - 1, ' ')}\n`);
    await program.until(({ out }) => (out.includes('get_weather') ? true : undefined));
    stdin?.write(line.padEnd(limit + 1, ' '));
    expect(await program.ended).toBe(0);
    expect(program.said.err).toContain(`a line of over ${limit} bytes`);
  },
};

test('every limit in the document is tested, and every tested limit is in the document', () => {
  expect([...LIMITS.keys()].sort()).toEqual([...Object.keys(DEFAULTS), ...Object.keys(HOLDS)].sort());
});

test.each([...LIMITS])(
  'the limit that the document gives is the one that holds: %s, %i',
  async (limit, value) => {
    if (limit in DEFAULTS) expect(DEFAULTS[limit]).toBe(value);
    else await HOLDS[limit]?.(value);
  },
  60_000,
);
