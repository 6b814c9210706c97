/**
 * The invariant test: whatever the shape of a handler, its client observes the same conversation. Every option is started
 * in memory and gets the same calls, of the same client, with the same user. `tests/matrix` holds the rest of the claims:
 * old clients, fleets, restarts, kills, and H on PostgreSQL.
 */
import { createWorld } from '@mrtr/comparison';
import { type LoadedOption, loadOptions, OPTIONS } from '@mrtr/comparison/options';
import { requestStatePolicy } from '@mrtr/core';
import { converse, host, scriptedUser } from '@mrtr/harness';
import { diffViews, hostView, resultText } from '@mrtr/harness/transcript';
import { expect, test } from 'vitest';

const [first, ...others] = (await loadOptions(OPTIONS.filter(({ needsPostgres }) => !needsPostgres))) as [
  LoadedOption,
  ...LoadedOption[],
];

test('every option that needs no database is started', () => {
  expect(others.length).toBeGreaterThanOrEqual(11);
});

const CALLS = [
  {
    name: 'get_weather',
    arguments: { location: 'Tokyo' },
    answers: { units: ['imperial'] },
    says: 'Weather in Tokyo: 72°F, partly cloudy.',
  },
  {
    name: 'resolve_work_item',
    arguments: { id: 4522, state: 'Resolved' },
    answers: { resolution: ['Duplicate'], original: ['4301'] },
    says: '#4522 resolved as Duplicate of #4301.',
  },
];

for (const { answers, says, ...params } of CALLS) {
  const runCall = ({ create }: LoadedOption) =>
    converse({ client: 'modern', call: { method: 'tools/call', params }, user: scriptedUser(answers) }, () =>
      host('memory', () => create({ world: createWorld(), policy: requestStatePolicy() })),
    );

  test(`${first.name} answers ${params.name}`, async () => {
    expect(resultText((await runCall(first)).end.result ?? {})).toBe(says);
  });

  test.each(others.map((option) => [option.name, option] as const))(
    `a client of ${params.name} observes of %s what it observes of ${first.name}`,
    async (_name, option) => {
      const view = async (one: LoadedOption) => ({ title: one.name, lines: hostView(await runCall(one)) });
      const [here, there] = await Promise.all([view(first), view(option)]);
      expect(here.lines).not.toEqual([]);
      expect(diffViews(here, there)).toBeUndefined();
    },
  );
}
