/** What the lab records is what the measured table says. */
import { LineTrace } from '@mrtr/harness';
import { type Tally, tally } from '@mrtr/harness/transcript';
import { findOption, type ListedOption, loadOption } from '@mrtr/options';
import { afterAll, expect, test } from 'vitest';
import { measuredRow } from './measured.ts';
import { record, SITUATIONS } from './situations.ts';

const trace = new LineTrace(() => undefined);
afterAll(() => trace.close());

test('every situation is recorded, and shows what its cell says', async () => {
  const option = await loadOption(findOption('f') as ListedOption);
  const tallies: Record<string, Tally> = {};
  for (const situation of SITUATIONS) {
    const { id, transcript, insides } = await record(option, situation, trace);
    tallies[id] = tally(transcript);
    if (situation.id === 'twice') expect(Object.values(insides)[0]).toMatchObject({ sealed: true, round: 1 });
  }
  const { columns, cells } = await measuredRow(option);
  const cellOf = (title: RegExp) => {
    const { answer, text, bad, proofs } = cells[columns.findIndex((column) => title.test(column))] ?? {
      proofs: [],
    };
    return { answer, text, bad, shown: proofs.map((id) => tallies[id]) };
  };
  expect(cellOf(/run again/)).toMatchObject({
    answer: 'yes, in every round',
    text: '2× / 3×',
    shown: [{ entries: 2 }, { entries: 3 }],
  });
  expect(cellOf(/audit record/)).toMatchObject({
    answer: 'once',
    text: '1',
    bad: false,
    shown: [{ effects: { audit: 1 } }],
  });
  expect(cellOf(/one approval/)).toMatchObject({
    answer: 'only with single use off',
    text: '1 (2)',
    bad: false,
    shown: [
      { rounds: 2, effects: { write: 1 } },
      { rounds: 2, effects: { write: 2 } },
    ],
  });
  expect(cellOf(/nobody asked/)).toMatchObject({
    answer: 'no',
    text: 'refused / refused',
    bad: false,
    shown: [{}, {}],
  });
}, 60_000);
