/** The invariant of kills fails on options with exactly the faults that it must detect. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Processes, startProcesses } from '../processes/deployment.ts';
import { type KillCell, measureKills } from '../processes/kill.ts';
import { killsAsClaimed } from '../processes/kill-invariants.ts';
import * as broken from './broken-options.ts';

let processes: Processes | undefined;
let kills: readonly KillCell[];

beforeAll(async () => {
  processes = await startProcesses(
    ({ id }) => ({
      module: new URL('./broken-options.ts', import.meta.url).href,
      name: Object.entries(broken).find(([, one]) => 'id' in one && one.id === id)?.[0] ?? '',
    }),
    { fleet: 2 },
  );
  kills = await measureKills([broken.hidesKills, broken.writesBeforeRefusing], processes);
}, 60_000);

afterAll(() => processes?.close(), 60_000);

const complaintsOf = ({ id }: { id: string }) =>
  kills
    .filter(
      ({ option, scenario }) =>
        option.id === id && scenario.client === 'modern' && scenario.script.name === 'metric',
    )
    .flatMap(killsAsClaimed);

test('a call that dies with its process, although the option claims otherwise, is noticed', () => {
  expect(complaintsOf(broken.hidesKills).join()).toContain('claims outcome elicited, measured error');
});

test('a write before the refusal, and an unclear message, are noticed', () => {
  expect(complaintsOf(broken.writesBeforeRefusing)).toEqual([
    expect.stringContaining('failed, and wrote 1 entries after that'),
    expect.stringContaining('failed with an unclear message: Oops.'),
  ]);
});
