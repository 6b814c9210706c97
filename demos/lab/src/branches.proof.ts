/** What the lessons record: every choice of each, ended, and with the marks that its lesson has. */
import { LineTrace } from '@mrtr/harness';
import { tally } from '@mrtr/harness/transcript';
import { authorsFile } from '@mrtr/matrix/processes';
import { expect, test } from 'vitest';
import { MARKS, readCall } from '../page/src/lessons/marks.ts';
import { recordBranches } from './branches.ts';
import { branchId, LESSONS } from './lessons.ts';
import type { Recording } from './protocol.ts';

test('every choice of every lesson is recorded, and together they show all that the lesson is about', async () => {
  const trace = new LineTrace(authorsFile);
  const recordings = new Map<string, Recording>();
  await recordBranches(trace, (recording) => void recordings.set(recording.id, recording));
  trace.close();
  expect(LESSONS.map(({ id }) => id).sort()).toEqual(Object.keys(MARKS).sort());
  expect(recordings.size).toBe(2 * LESSONS.flatMap(({ choices }) => choices).length);
  for (const { id, choices, sides, fork } of LESSONS) {
    const seen = choices.flatMap((choice) =>
      sides.map((side, at) => {
        const recording = recordings.get(branchId(id, choice.id, at === 0 ? 'left' : 'right'));
        if (!recording) throw new Error(`${id}: ${choice.id} was not recorded.`);
        // The fork is a question that every branch has come to.
        if (fork > 0)
          expect(tally(recording.transcript).questions, recording.id).toBeGreaterThanOrEqual(fork);
        return readCall(side, recording.transcript);
      }),
    );
    for (const [mark, , meets] of MARKS[id] ?? []) expect(seen.some(meets), `${id}: ${mark}`).toBe(true);
  }
}, 240_000);
