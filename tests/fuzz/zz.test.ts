import fc from 'fast-check';
import { test } from 'vitest';
import { attempts, onlyWhatWasMinted } from './tokens.ts';

test('x', async () => {
  let t = performance.now();
  const sample = fc.sample(attempts, { numRuns: 5000, seed: 1 });
  console.log('gen', (performance.now() - t) / 5000);
  t = performance.now();
  await fc.assert(onlyWhatWasMinted(), { numRuns: 5000, seed: 1 });
  console.log('all', (performance.now() - t) / 5000);
});
