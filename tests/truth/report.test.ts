/** The drawing of a finding agrees with its sentence. */
import { rowsOf } from '@mrtr/harness/transcript';
import { expect, test } from 'vitest';
import { draw } from '../../packages/check/src/report/drawing.ts';
import { countsAt } from '../../tools/lab/page/src/viewer/model.ts';
import { checkTwisted } from '../check/scripted.test-support.ts';
import { acts, again } from '../check/ways/ways.test-support.ts';

const IDS = ['retry.twice', 'retry.concurrent', 'retry.lost-response', 'instance.replay-elsewhere'];

test('an approval that counts twice is drawn with each change of the probe that its sentence names, the last in red', async () => {
  const { checks } = await checkTwisted(again(acts('sure accept,memo accept')), IDS);
  const found = checks.filter(({ verdict }) => verdict === 'fail');
  expect(found.map(({ id }) => id).sort()).toEqual(IDS.toSorted());
  for (const { id, actual, conversation } of found) {
    if (!conversation) throw new Error(`${id} has no conversation.`);
    const [, from, to] = /the probe went from (\d+) to (\d+)\./.exec(actual) ?? [];
    const effects = rowsOf(conversation).filter(({ event }) => event.kind === 'effect');
    const changes = effects.map(({ text }) => /probe: (\d+) → (\d+)/.exec(text)?.slice(1) ?? []);
    expect([changes[0]?.[0], changes.at(-1)?.[1]], id).toEqual([from, to]);
    for (const [at, [begin]] of changes.slice(1).entries()) expect(begin, id).toBe(changes[at]?.[1]);
    expect(effects.map(({ tone }) => tone === 'error').indexOf(true), id).toBe(effects.length - 1);
    const count = countsAt(conversation, conversation.events).at(-1);
    expect(count, id).toEqual([`${changes.length}`, expect.stringMatching(/^changes? seen$/), true]);
    expect(draw(conversation).filter((line) => line.includes('AGAIN')).length, id).toBe(1);
  }
  const [twice] = found.filter(({ id }) => id === 'retry.twice');
  expect(twice?.conversation?.events.filter(({ kind }) => kind === 'effect')).toHaveLength(2);
});
