/** The lab's recordings show the values of the measured table. */

import { findOption, type ListedOption, loadOption } from '@mrtr/comparison/options';
import { eventsOf, tally } from '@mrtr/harness/transcript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lab } from './lab.ts';
import { measureRow, QUESTIONS } from './measured.ts';
import { play } from './play.ts';
import { situationsOf } from './situations.ts';

let lab: Lab;
beforeAll(() => {
  lab = new Lab();
});
afterAll(() => lab.close());

test('every situation is recorded, and shows what its cell says', async () => {
  const option = await loadOption(findOption('f') as ListedOption);
  const tallies: Record<string, ReturnType<typeof tally>> = {};
  for (const situation of situationsOf(option.id)) {
    const { id, transcript, insides } = await play(lab, 'left', situation);
    tallies[id] = tally(transcript);
    if (id === 'f.twice') expect(Object.values(insides)[0]).toMatchObject({ sealed: true, round: 1 });
    if (id === 'f.other-state')
      expect(eventsOf('state', transcript.events).at(-1)).toMatchObject({ phase: 'rejected' });
  }
  const cells = await measureRow(option);
  for (const [title, answer, text, ...shown] of [
    [/run again/, 'yes, in every round', '2× / 3×', { entries: 2 }, { entries: 3 }],
    [/audit record/, 'once', '1', { effects: { audit: 1 } }],
    [
      /one approval/,
      'only with single use off',
      '1 (2)',
      { rounds: 2, effects: { write: 1 } },
      { rounds: 2, effects: { write: 2 } },
    ],
    [/nobody asked/, 'no', 'rejected / rejected', {}, {}],
  ] as const) {
    const { proofs = [], ...cell } = cells[QUESTIONS.findIndex((question) => title.test(question))] ?? {};
    expect(cell).toEqual({ answer, text, bad: false });
    expect(proofs.map((id) => tallies[id])).toMatchObject(shown);
  }
});
