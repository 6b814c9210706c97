/** All cells of the matrix. */

import { type Measured, SCRIPTS } from '@mrtr/comparison/calls';
import type { Claims } from '@mrtr/comparison/claims';
import { type LocalScenario, type MeasuredCall, measureScenario, type Scenario } from './measurement.ts';

export interface Cell {
  readonly claims: Claims;
  readonly scenario: Scenario;
  readonly call: MeasuredCall;
}

/** The clients, each with its legacy policies. A policy makes a difference to old clients only. */
const CLIENTS = [
  { client: 'modern', legacy: 'shim' },
  { client: 'unaskable', legacy: 'shim' },
  { client: 'legacy', legacy: 'shim' },
  { client: 'legacy', legacy: 'degrade' },
] as const;

/** Every scenario of this process: client × legacy policy × hosting × script. */
export const SCENARIOS: readonly LocalScenario[] = CLIENTS.flatMap((served) =>
  (['memory', 'fleet'] as const).flatMap((hosting) =>
    SCRIPTS.map((script) => ({ ...served, hosting, script })),
  ),
);

export async function measure(option: Measured, scenarios: readonly LocalScenario[] = SCENARIOS) {
  const cells: Cell[] = [];
  for (const scenario of scenarios) {
    cells.push({ claims: option.claims, scenario, call: await measureScenario(option, scenario) });
  }
  return cells;
}
