/** What the lab records is what the measured table says. */
import { LineCoverage } from '@mrtr/harness';
import { tally } from '@mrtr/harness/transcript';
import { findOption, type ListedOption, loadOption } from '@mrtr/options';
import { afterAll, expect, test } from 'vitest';
import { cellsOf } from './measured.ts';
import type { Recording } from './protocol.ts';
import { record, SITUATIONS } from './record.ts';

const coverage = new LineCoverage(() => undefined);
afterAll(() => coverage.close());

test('every situation is recorded, and is the proof of its cell', async () => {
  const option = await loadOption(findOption('f') as ListedOption);
  const recordings = new Map<string, Recording>();
  for (const situation of SITUATIONS) {
    recordings.set(situation.id, await record(option, situation, coverage));
  }
  const cells = cellsOf(recordings);
  expect(cells.entered?.text).toBe('2× / 3×');
  expect(cells.audit).toEqual({ text: '1', bad: false, proofs: ['f.one'] });
  expect(cells.twice).toEqual({ text: '2 (1)', bad: true, proofs: ['f.twice', 'f.twice-single'] });
  expect(cells.forged?.text).toBe('refused');
  const { transcript, insides } = recordings.get('twice') as Recording;
  expect(tally(transcript)).toMatchObject({ rounds: 2, effects: { write: 2 } });
  expect(Object.values(insides)[0]).toMatchObject({ sealed: true, round: 1 });
}, 30_000);
