/** The memory ledger's own behaviour. `@mrtr/ledgers/contract` tests the behaviour of all ledgers. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { type LeaseRequest, MemoryLedger, type MemoryLedgerOptions } from './ledger.ts';

/** A ledger on a clock that the test sets, in seconds. */
function ledgerWithClock(options: MemoryLedgerOptions = {}) {
  let now = 1_800_000_000_000;
  const start = now;
  const ledger = new MemoryLedger({ ...options, now: () => now });
  const leases = new Map<string, string>();
  const lease = async (id: string, expiresIn: number, of: Partial<LeaseRequest> = {}) => {
    const decision = await ledger.lease({
      id,
      answers: 'yes',
      issuedAt: start,
      expiresAt: start + expiresIn * 1000,
      leaseSeconds: 5,
      pseudonym: undefined,
      now,
      ...of,
    });
    if (decision.kind === 'first') leases.set(id, decision.lease);
    return decision;
  };
  const settle = (id: string, result: string) => ledger.settle(id, leases.get(id) ?? '', result);
  const at = (seconds: number) => {
    now = start + seconds * 1000;
  };
  return { ledger, lease, settle, leases, at };
}
const SKEW = 60;
const settledDecision = (result: string) => ({ kind: 'settled', result, answers: 'yes' });

test('a memory ledger forgets expired tokens long before it is full', async () => {
  const { ledger, lease, at } = ledgerWithClock();
  for (const id of ['a', 'b']) await lease(id, 10);
  at(10 + SKEW);
  await lease('c', 300);
  expect(ledger.size).toBe(1);
});

test('a memory ledger has room again when entries have expired, also behind an entry that lives longer', async () => {
  const { ledger, lease, settle, at } = ledgerWithClock({
    limits: { entries: 40, bytes: 100, perPrincipal: 1 },
  });
  await lease('long', 1_000_000);
  for (let n = 1; n < 40; n++) await lease(`brief ${n}`, 10);
  await settle('brief 1', 'x'.repeat(100));
  await expect(lease('one more', 20)).rejects.toMatchObject({ code: 'store_full' });
  at(10 + SKEW);
  expect(await lease('one more', 300)).toMatchObject({ kind: 'first' });
  await settle('one more', 'y'.repeat(100));
  expect(await lease('one more', 300)).toEqual(settledDecision('y'.repeat(100)));
  expect(ledger.size).toBe(2);
});

test('a ledger that forgets takes every call: it forgets the oldest token that was served, and warns once', async () => {
  Reflect.deleteProperty(globalThis, Symbol.for('mrtr.warned'));
  const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emitWarning.mockRestore());
  const { ledger, lease, settle } = ledgerWithClock({ limits: { entries: 3 }, whenFull: 'forget' });
  for (const id of ['running', 'older', 'newer']) await lease(id, 60);
  for (const id of ['older', 'newer']) await settle(id, 'done');
  expect(await lease('next', 60)).toMatchObject({ kind: 'first' });
  expect(await lease('running', 60)).toEqual({ kind: 'in-flight' });
  expect(await lease('newer', 60)).toEqual(settledDecision('done'));
  expect(await lease('older', 60)).toMatchObject({ kind: 'first' });
  expect(ledger.size).toBe(3);
  // All entries are being served.
  await expect(lease('one more', 60)).rejects.toMatchObject({ code: 'store_full' });
  expect(emitWarning.mock.calls).toEqual([
    [expect.stringContaining('forgets the oldest approvals'), { code: 'MRTR_LEDGER_FORGETS' }],
  ]);
});

test('a ledger that forgets makes room within the limit of one caller with a token of that caller', async () => {
  const { lease, settle } = ledgerWithClock({
    limits: { entries: 4, perPrincipal: 0.25 },
    whenFull: 'forget',
  });
  await lease('a', 60, { pseudonym: 'ada' });
  await lease('b', 60, { pseudonym: 'bob' });
  for (const id of ['a', 'b']) await settle(id, 'done');
  expect(await lease('c', 60, { pseudonym: 'bob' })).toMatchObject({ kind: 'first' });
  expect(await lease('a', 60)).toEqual(settledDecision('done'));
});

test('a server whose clock is a minute off is served, and one that is more is not', async () => {
  const { lease } = ledgerWithClock();
  const now = 1_800_000_000_000;
  for (const off of [-60_000, 60_000]) {
    expect(await lease(`${off}`, 60, { now: now + off })).toMatchObject({ kind: 'first' });
    const further = off + Math.sign(off);
    expect(await lease(`${further}`, 60, { now: now + further })).toEqual({
      kind: 'clock-differs',
      byMs: further,
    });
  }
});

test('a result that comes after its token was forgotten takes no room', async () => {
  const { ledger, lease, settle, at } = ledgerWithClock({ limits: { bytes: 10 } });
  await lease('full', 10);
  await lease('slow', 10);
  await settle('full', '8 bytes.');
  at(10 + SKEW);
  await settle('slow', '8 bytes.');
  expect(ledger.size).toBe(0);
  await lease('new', 300);
  // A result counts by its bytes, and this one has 11.
  await settle('new', '10 bytes é');
  expect(await lease('new', 300)).toEqual({ kind: 'lost' });
  await lease('newest', 300);
  await settle('newest', '10 bytes..');
  expect(await lease('newest', 300)).toEqual(settledDecision('10 bytes..'));
});
