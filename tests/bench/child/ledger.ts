/** Fills a ledger of this process with tokens that were served, and then serves more. Needs `--expose-gc`. */
import { randomBytes } from 'node:crypto';
import { MemoryLedger } from '@mrtr/core';
import { keyRing, sealAtRest } from '@mrtr/core/seal';
import { heapUsed } from './heap.ts';

const entries = Number(process.argv[2]);
const ring = keyRing([randomBytes(32)]);
const result = sealAtRest(JSON.stringify({ result: { content: [] } }), 'a result', ring).toString(
  'base64url',
);

async function serve(ledger: MemoryLedger): Promise<void> {
  const id = randomBytes(12).toString('base64url');
  const now = Date.now();
  const claim = await ledger.claim({
    id,
    answers: id,
    issuedAt: now,
    expiresAt: now + 600_000,
    leaseSeconds: 300,
    principal: undefined,
    now,
  });
  if (claim.kind !== 'first') throw new Error(`The ledger answered ${claim.kind}.`);
  // As text of its own, as each result is.
  await ledger.settle(id, claim.lease, Buffer.from(result).toString());
}

async function serveMany(ledger: MemoryLedger): Promise<number> {
  const started = performance.now();
  for (let at = 0; at < entries; at++) await serve(ledger);
  return ((performance.now() - started) * 1000) / entries;
}

process.removeAllListeners('warning');
await serveMany(new MemoryLedger({ maxEntries: entries }));
const before = await heapUsed();
const ledger = new MemoryLedger({ maxEntries: entries, maxEntriesPerPrincipal: entries, whenFull: 'forget' });
const microsecondsEach = await serveMany(ledger);
const heapEach = ((await heapUsed()) - before) / entries;
const microsecondsFull = await serveMany(ledger);
process.stdout.write(JSON.stringify({ entries, heapEach, microsecondsEach, microsecondsFull }));
