/** Every drawing agrees with the events of its conversation, at each step. */
import { readFileSync } from 'node:fs';
import { type Participant, rowsOf, spansOf, type Transcript, toMermaid } from '@mrtr/harness/transcript';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { draw } from '../../packages/check/src/report/drawing.ts';
import { closingLine } from '../../tools/cli/src/diagram.ts';
import { diagram } from '../../tools/cli/src/terminal.test-support.ts';
import { linesRun, marksOf, standsAt } from '../../tools/lab/page/src/viewer/code.ts';
import { countsAt } from '../../tools/lab/page/src/viewer/model.ts';
import { describe, factsOf, RULES } from '../../tools/lab/page/src/viewer/sentence.ts';
import { Lab } from '../../tools/lab/src/lab.ts';
import { play } from '../../tools/lab/src/play.ts';
import { SIDES, type SideName } from '../../tools/lab/src/set-up.ts';
import { situationsOf } from '../../tools/lab/src/situations.ts';
import { IN_MEMORY, oneForEachWay } from '../testkit/options.ts';
import { schemaMistakes } from '../testkit/transcript-schema.ts';
import { conversationsWith } from './conversations.ts';
import {
  countAll,
  countHeld,
  countLines,
  countMessages,
  findFalseClaims,
  findLost,
  findOmissions,
  findStand,
  judge,
} from './recount.ts';

const inSingular = (word: string) => word.replace(/(record|write|round)s$/, '$1');

const hasAgent = ({ participants }: Transcript): boolean =>
  participants.some((one) => one.kind === 'person' && one.isAgent);

/** Checks the page at each step: the head, colours, bars, the program counter, the sentence and the lit lines. */
function holdsPage(transcript: Transcript): void {
  const { events, participants } = transcript;
  const isAgent = hasAgent(transcript);
  const all = rowsOf(transcript);
  const files = new Set(events.flatMap((event) => (event.kind === 'lines' ? Object.keys(event.files) : [])));
  let entries = 0;
  for (const [step, row] of all.entries()) {
    const isEnd = step === all.length - 1;
    const until = isEnd ? events.length - 1 : row.at;
    const soFar = events.slice(0, until + 1);
    const rows = all.slice(0, step + 1);
    const counts = countsAt(transcript, soFar).map(([number, name]) => [inSingular(name), number]);
    expect(Object.fromEntries(counts), `the head at ${row.at}`).toEqual(countAll(soFar));
    const verdict = judge(events, row.at, isAgent);
    expect(row.tone === 'error', `red at ${row.at}`).toBe(verdict === 'broken');
    expect(row.tone === 'refused', `a shield at ${row.at}`).toBe(verdict === 'refused');
    if (row.event.kind === 'entry' && row.event.part === 'handler')
      expect(row.text).toBe(`entry ${++entries}`);
    const isParked = (lane: Participant) =>
      spansOf(lane, rows).some(({ kind, to }) => kind === 'parked' && to === undefined);
    const held = new Set(countHeld(events.slice(0, row.at + 1)));
    expect(new Set(participants.filter(isParked).map(({ id }) => id)), `parked at ${row.at}`).toEqual(held);
    const stand = standsAt(soFar, rows);
    const { file: _, ...place } = stand ?? {};
    expect(stand && place, `the program counter at ${row.at}`).toEqual(findStand(soFar));
    const seen = { name: 'B', conversation: transcript, rows, events: soFar, stand, isEnd };
    const facts = factsOf(seen);
    const sentences = RULES.map((rule) => rule(facts)).filter(Boolean);
    // Each rule that applies is true, so that no order of them makes an untrue sentence.
    for (const words of sentences)
      expect(findFalseClaims(`B${words}`, soFar, isAgent), `a rule at ${row.at}`).toEqual([]);
    const sentence = describe(facts);
    expect(sentence).toBe(`B${sentences[0]}`);
    expect(findFalseClaims(sentence, soFar, isAgent), `the sentence at ${row.at}`).toEqual([]);
    expect(findOmissions(sentence, soFar, isAgent, isEnd), `the sentence at ${row.at}`).toEqual([]);
    const ran = linesRun(soFar);
    for (const file of files) {
      const marks = LINES.map((line) => ({ line, ...marksOf(file, ran, line) }));
      const lit = marks.filter(({ isLit, run }) => isLit || run !== undefined);
      const expected = countLines(soFar, file).sort((one, other) => one.line - other.line);
      expect(
        lit.map(({ line, count, run }) => ({ line, count, isNow: run !== undefined })),
        `${file} at ${row.at}`,
      ).toEqual(expected);
    }
  }
}

const LINES = Array.from({ length: 80 }, (_, at) => at + 1);

const countIn = (lines: readonly string[], what: RegExp) => lines.filter((line) => what.test(line)).length;

/** Counts messages in the report, which draws repeated ones once, below their number. */
function countInReport(lines: readonly string[], what: RegExp): number {
  let [sum, times] = [0, 1];
  for (const line of lines) {
    times = Number(/│ {2}(\d+) times:/.exec(line)?.[1] ?? times);
    if (what.test(line)) sum += times;
    if (/[▶◀✕✎☠]|restarted|deployed/.test(line)) times = 1;
  }
  return sum;
}

/** Checks the schema, and the drawings of Mermaid, the terminal and the checker's report. */
function holdsText(transcript: Transcript): void {
  const { events } = transcript;
  expect(schemaMistakes([transcript])).toEqual([]);
  const { lost, replaced, arrived } = countMessages(events);
  const verdicts = events.map((_, at) => judge(events, at, hasAgent(transcript)));
  const broken = events.filter(({ kind }, at) => kind === 'effect' && verdicts[at] === 'broken').length;
  const refused = verdicts.filter((verdict) => verdict === 'refused').length;
  const mermaid = toMermaid(transcript).split('\n');
  const terminal = diagram(transcript);
  const report = draw(transcript);
  expect(countIn(mermaid, /-xP/), 'lost, in Mermaid').toBe(lost);
  const restarts = events.filter(({ kind }) => kind === 'restart').length;
  const restarted = /Note over P\d: (?:restarted|a new version is deployed: said)$/;
  expect(countIn(mermaid, restarted), 'restarts, in Mermaid').toBe(restarts);
  expect(countIn(terminal, /✕/), 'lost, in the terminal').toBe(lost);
  expect(countIn(terminal, /▶┃/), 'arrived, in the terminal').toBe(arrived);
  for (const [name, lines] of Object.entries({ mermaid, terminal })) {
    expect(countIn(lines, /AGAIN|NOBODY|DECLINED/), `red effects, in ${name}`).toBe(broken);
    expect(countIn(lines, /⊘/), `refusals, in ${name}`).toBe(refused);
    expect(countIn(lines, /kept back: /), `kept back, in ${name}`).toBe(replaced);
    expect(countIn(lines, /sent in its place: /), `sent in their place, in ${name}`).toBe(replaced);
  }
  if (countIn(report, /and so on/) === 0) {
    expect(countInReport(report, /✕/), 'lost, in the report').toBe(lost);
    expect(countInReport(report, /▶│/), 'arrived, in the report').toBe(arrived);
  }
  const { round, write } = countAll(events);
  expect(closingLine(transcript, 'write')).toMatch(new RegExp(`^${round} rounds?.* written ${write}×`));
}

test('every drawing of a generated conversation agrees with its events', () => {
  let generated = 0;
  fc.assert(
    fc.property(conversationsWith(fc.constant('said')), (transcript) => {
      generated++;
      holdsPage(transcript);
      holdsText(transcript);
    }),
    // A fixed seed: a failure here can be repeated everywhere.
    { seed: 20260728 },
  );
  expect(generated).toBeGreaterThan(90);
});

const CLOSES = /^[\s})\];,]*$/;
const root = new URL('../../', import.meta.url);

let lab: Lab;
beforeAll(() => {
  lab = new Lab();
});
afterAll(() => lab.close());

test.each(oneForEachWay(IN_MEMORY))(
  'every drawing of a recorded conversation of $name agrees with its events',
  async ({ id }) => {
    const lit = new Set<string>();
    const left = situationsOf(id).values();
    const playOn = async (side: SideName) => {
      for (const situation of left) {
        const { transcript } = await play(lab, side, situation);
        expect(findLost(transcript.events), situation.id).toEqual([]);
        holdsPage(transcript);
        holdsText(transcript);
        for (const event of transcript.events)
          for (const [file, lines] of event.kind === 'lines' ? Object.entries(event.files) : [])
            for (const line of Object.keys(lines)) lit.add(`${file}:${line}`);
      }
    };
    await Promise.all(SIDES.map(playOn));
    const texts = [...lit].map((place) => {
      const [file = '', line] = place.split(':');
      return readFileSync(new URL(file, root), 'utf8').split('\n')[Number(line) - 1];
    });
    expect(texts.length).toBeGreaterThan(3);
    expect(texts.filter((text) => CLOSES.test(text ?? ''))).toEqual([]);
  },
);
