/** The invariants of processes fail on options with exactly the faults that they must notice. */

import { SCRIPTS } from '@mrtr/matrix';
import {
  killsAsClaimed,
  measureProcesses,
  Processes,
  type ProcessMeasurements,
  sameAcrossHostings,
} from '@mrtr/matrix/processes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as broken from './broken-options.ts';

const options = [broken.tellsWhereItRuns, broken.hidesKills, broken.writesBeforeRefusing];
const metric = SCRIPTS.slice(0, 1).map((script) => ({ client: 'modern', legacy: 'shim', script }) as const);

let processes: Processes | undefined;
let measured: ProcessMeasurements;

beforeAll(async () => {
  processes = await Processes.start(
    ({ id }) => ({
      module: new URL('./broken-options.ts', import.meta.url).href,
      name: Object.entries(broken).find(([, option]) => option.id === id)?.[0] ?? '',
    }),
    { fleet: 2 },
  );
  measured = await measureProcesses(options, processes, { stdio: [], http: metric, processes: metric });
}, 60_000);

afterAll(() => processes?.close(), 60_000);

const of = (cells: ProcessMeasurements['cells'], { id }: { id: string }) =>
  cells.filter(({ observed }) => observed.observation.option === id);
const kills = ({ id }: { id: string }) =>
  measured.kills.filter(({ option }) => option.id === id).flatMap(killsAsClaimed);

it('8: another question in another process is noticed', () => {
  const differences = sameAcrossHostings(of(measured.cells, broken.tellsWhereItRuns)).join();
  expect(differences).toContain(`-  "message": "Which units? (asked by process ${process.pid})"`);
  expect(sameAcrossHostings(of(measured.cells, broken.hidesKills))).toEqual([]);
});

it('9: a call that dies with its process, although the option claims otherwise, is noticed', () => {
  expect(kills(broken.hidesKills).join()).toContain('claims elicited, ended with error');
});

it('9: a write before the refusal, and an unclear message, are noticed', () => {
  expect(kills(broken.writesBeforeRefusing)).toEqual([
    expect.stringContaining('failed, and wrote 1 entries after that'),
    expect.stringContaining('failed with an unclear message: Oops.'),
  ]);
});
