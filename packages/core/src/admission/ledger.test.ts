/** The ledger of one process. `@mrtr/ledgers/contract` has what every ledger owes. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { type LeaseRequest, MemoryLedger, type MemoryLedgerOptions } from './ledger.ts';

/** A ledger on a clock that the test sets, in seconds. */
function ledgerWithClock(options: MemoryLedgerOptions = {}) {
  let now = 1_800_000_000_000;
  const start = now;
  const ledger = new MemoryLedger({ ...options, now: () => now });
  const leases = new Map<string, string>();
  const claim = async (id: string, expiresIn: number, of: Partial<LeaseRequest> = {}) => {
    const claimed = await ledger.claim({
      id,
      answers: 'yes',
      issuedAt: start,
      expiresAt: start + expiresIn * 1000,
      leaseSeconds: 5,
      principal: undefined,
      now,
      ...of,
    });
    if (claimed.kind === 'first') leases.set(id, claimed.lease);
    return claimed;
  };
  const settle = (id: string, result: string) => ledger.settle(id, leases.get(id) ?? '', result);
  const at = (seconds: number) => {
    now = start + seconds * 1000;
  };
  return { ledger, claim, settle, leases, at };
}
const SKEW = 60;
const settledClaim = (result: string) => ({ kind: 'settled', result, answers: 'yes' });

test('a memory ledger holds at most maxEntries tokens, and forgets expired ones', async () => {
  const { ledger, claim, at } = ledgerWithClock({ maxEntries: 2 });
  await claim('a', 10);
  await claim('b', 20);
  await expect(claim('c', 30)).rejects.toMatchObject({ code: 'store_full' });
  at(10 + SKEW);
  expect(await claim('c', 300)).toMatchObject({ kind: 'first' });
  expect(ledger.size).toBe(2);
});

test('a memory ledger holds at most maxEntriesPerPrincipal tokens of one caller', async () => {
  const { claim } = ledgerWithClock({ maxEntriesPerPrincipal: 2 });
  for (const id of ['a', 'b']) await claim(id, 10, { principal: 'ada' });
  await expect(claim('c', 10, { principal: 'ada' })).rejects.toThrow(/^You have too many calls/);
  expect(await claim('c', 10, { principal: 'bob' })).toMatchObject({ kind: 'first' });
});

test('a memory ledger forgets expired tokens long before it is full', async () => {
  const { ledger, claim, at } = ledgerWithClock();
  for (const id of ['a', 'b']) await claim(id, 10);
  at(10 + SKEW);
  await claim('c', 300);
  expect(ledger.size).toBe(1);
});

test('a memory ledger holds at most maxBytes of results; a token whose result it dropped is lost', async () => {
  const { claim, settle, at } = ledgerWithClock({ maxBytes: 10 });
  for (const id of ['a', 'b']) await claim(id, 20);
  for (const id of ['a', 'b']) await settle(id, '8 bytes.');
  expect(await claim('a', 20)).toEqual(settledClaim('8 bytes.'));
  expect(await claim('b', 20)).toEqual({ kind: 'lost' });
  at(20 + SKEW);
  await claim('c', 300);
  await settle('c', '8 bytes.');
  expect(await claim('c', 300)).toEqual(settledClaim('8 bytes.'));
});

test('a memory ledger has room again when entries have expired, also behind an entry that lives longer', async () => {
  const { ledger, claim, settle, at } = ledgerWithClock({ maxEntries: 40, maxBytes: 100 });
  await claim('long', 1_000_000);
  for (let n = 1; n < 40; n++) await claim(`brief ${n}`, 10);
  await settle('brief 1', 'x'.repeat(100));
  await expect(claim('one more', 20)).rejects.toMatchObject({ code: 'store_full' });
  at(10 + SKEW);
  expect(await claim('one more', 300)).toMatchObject({ kind: 'first' });
  await settle('one more', 'y'.repeat(100));
  expect(await claim('one more', 300)).toEqual(settledClaim('y'.repeat(100)));
  expect(ledger.size).toBe(2);
});

test('a memory ledger has room for results again when entries have expired, also behind an entry that lives longer', async () => {
  const { claim, settle, at } = ledgerWithClock({ maxBytes: 10 });
  await claim('long', 1_000_000);
  await claim('brief', 10);
  await claim('late', 300);
  await settle('brief', '8 bytes.');
  at(10 + SKEW);
  await settle('late', '8 bytes.');
  expect(await claim('late', 300)).toEqual(settledClaim('8 bytes.'));
});

test('a ledger that forgets takes every call: it forgets the oldest token that was served, and warns once', async () => {
  Reflect.deleteProperty(globalThis, Symbol.for('mrtr.warned'));
  const emitWarning = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onTestFinished(() => emitWarning.mockRestore());
  const { ledger, claim, settle } = ledgerWithClock({ maxEntries: 3, whenFull: 'forget' });
  for (const id of ['running', 'older', 'newer']) await claim(id, 60);
  for (const id of ['older', 'newer']) await settle(id, 'done');
  expect(await claim('next', 60)).toMatchObject({ kind: 'first' });
  expect(await claim('running', 60)).toEqual({ kind: 'in-flight' });
  expect(await claim('newer', 60)).toEqual(settledClaim('done'));
  expect(await claim('older', 60)).toMatchObject({ kind: 'first' });
  expect(ledger.size).toBe(3);
  expect(emitWarning.mock.calls).toEqual([
    [expect.stringContaining('forgets the oldest approvals'), { code: 'MRTR_LEDGER_FORGETS' }],
  ]);
});

test('a ledger that forgets makes room within the limit of one caller with a token of that caller', async () => {
  const { claim, settle } = ledgerWithClock({ maxEntriesPerPrincipal: 1, whenFull: 'forget' });
  await claim('a', 60, { principal: 'ada' });
  await claim('b', 60, { principal: 'bob' });
  for (const id of ['a', 'b']) await settle(id, 'done');
  expect(await claim('c', 60, { principal: 'bob' })).toMatchObject({ kind: 'first' });
  expect(await claim('a', 60)).toEqual(settledClaim('done'));
});

test('a ledger that forgets has no room where every token is being served', async () => {
  const { claim } = ledgerWithClock({ maxEntries: 1, whenFull: 'forget' });
  await claim('running', 60);
  await expect(claim('next', 60)).rejects.toMatchObject({ code: 'store_full' });
  expect(await claim('running', 60)).toEqual({ kind: 'in-flight' });
});

test('a token counts as lost from the end of its lease, and as expired from its time, to the millisecond', async () => {
  const { claim, at } = ledgerWithClock();
  await claim('a', 60);
  at(4.999);
  expect(await claim('a', 60)).toEqual({ kind: 'in-flight' });
  at(5);
  expect(await claim('a', 60)).toEqual({ kind: 'lost' });
  expect(await claim('b', 5)).toEqual({ kind: 'expired' });
});

test('a server whose clock is a minute off is served, and one that is more is not', async () => {
  const { claim } = ledgerWithClock();
  const now = 1_800_000_000_000;
  for (const off of [-60_000, 60_000]) {
    expect(await claim(`${off}`, 60, { now: now + off })).toMatchObject({ kind: 'first' });
    const further = off + Math.sign(off);
    expect(await claim(`${further}`, 60, { now: now + further })).toEqual({
      kind: 'clock-differs',
      byMs: further,
    });
  }
});

test('a result that comes after its token was forgotten takes no room', async () => {
  const { ledger, claim, settle, at } = ledgerWithClock({ maxBytes: 10 });
  await claim('full', 10);
  await claim('slow', 10);
  await settle('full', '8 bytes.');
  at(10 + SKEW);
  await settle('slow', '8 bytes.');
  expect(ledger.size).toBe(0);
  await claim('new', 300);
  await settle('new', '10 bytes..');
  expect(await claim('new', 300)).toEqual(settledClaim('10 bytes..'));
});
