/**
 * The other direction: a modern client at an old server. The client's application is the same as with new servers, so
 * it has to see the same. The wire is different in any case, and is not compared.
 */

import { GET_WEATHER, RESOLVE_WORK_ITEM } from '@mrtr/example-tools';
import { diffViews, hostViewOfAnyEra } from '@mrtr/harness/transcript';
import type { Cell, Violations } from './invariants.ts';
import { type LocalScenario, type Observation, observeCall } from './observe.ts';
import { SCRIPTS } from './scripts.ts';
import type { Subject } from './subject.ts';

export type OldServerCell = Pick<Cell, 'scenario' | 'observed'>;

export async function measureOldServer(subject: Subject): Promise<OldServerCell[]> {
  const cells: OldServerCell[] = [];
  for (const script of SCRIPTS) {
    const scenario: LocalScenario = { client: 'modern', hosting: 'memory', legacy: 'shim', script };
    cells.push({ scenario, observed: await observeCall(subject, scenario) });
  }
  return cells;
}

/** 6. A modern client's application sees the same from an old server as from a new one, `newCells`. */
export function sameFromOldServer(
  oldCells: readonly OldServerCell[],
  newCells: readonly OldServerCell[],
): Violations {
  return newCells.flatMap((newCell) => {
    const { client, hosting, legacy, script } = newCell.scenario;
    const old = oldCells.find(({ scenario }) => scenario.script === script);
    if (!old || client !== 'modern' || hosting !== 'memory' || legacy !== 'shim') return [];
    return diffViews(withTitle(newCell), withTitle(old)) ?? [];
  });
}

const withTitle = ({ observed: { conversation, observation } }: OldServerCell) => ({
  title: `option ${observation.option} · ${observation.tool} · ${observation.script}`,
  lines: hostViewOfAnyEra(conversation),
});

/** 7. At an old server, a call is one request and one entry, has its effects once, and no other instance knows it. */
export function onceAtOldServer({
  scenario: { script },
  observed: { observation },
}: OldServerCell): Violations {
  const weather = script.tool === GET_WEATHER;
  const expected: Partial<Observation> = {
    outcome: script.outcome,
    rounds: 1,
    entries: 1,
    audits: weather ? 1 : 0,
    writes: !weather && script.outcome === 'elicited' ? 1 : 0,
    framesHeld: 0,
    otherInstance: 'refused',
    restart: 'refused',
  };
  return Object.entries(expected)
    .filter(([field, value]) => observation[field as keyof Observation] !== value)
    .map(
      ([field, value]) =>
        `old server · ${script.tool} · ${script.name}: expected ${field} ${value}, ` +
        `measured ${observation[field as keyof Observation]}`,
    );
}

export function oldServerTable(
  cells: readonly OldServerCell[],
  newCells: readonly OldServerCell[],
): readonly (readonly string[])[] {
  const head = ['Tool', 'Requests', 'Handler entered', 'Effects', 'Another instance', 'The application sees'];
  const tabled = { [GET_WEATHER]: 'metric', [RESOLVE_WORK_ITEM]: 'duplicate' };
  const rows = cells
    .filter(({ scenario: { script } }) => tabled[script.tool] === script.name)
    .map((cell) => {
      const { tool, rounds, entries, audits, writes, otherInstance } = cell.observed.observation;
      const same = sameFromOldServer([cell], newCells).length === 0;
      const seen = same ? 'the same as from a new server' : 'something else';
      return [`\`${tool}\``, `${rounds}`, `${entries}×`, `${audits + writes}`, otherInstance, seen];
    });
  return [head, ...rows];
}
