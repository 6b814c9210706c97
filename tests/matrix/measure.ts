/** All the cells that there are. */
import type { Option } from '@mrtr/tools';
import type { Cell } from './invariants.ts';
import { type LocalScenario, observe } from './observe.ts';
import { SCRIPTS } from './scripts.ts';

/** Every scenario of this process: client × hosting × legacy policy × script. */
export const SCENARIOS: readonly LocalScenario[] = (['modern', 'mute', 'legacy'] as const).flatMap((client) =>
  (['memory', 'fleet'] as const).flatMap((hosting) =>
    (['shim', 'degrade'] as const).flatMap((legacy) =>
      SCRIPTS.map((script) => ({ client, hosting, legacy, script })),
    ),
  ),
);

/** Measures one option in `scenarios`. */
export async function measure(
  option: Option,
  scenarios: readonly LocalScenario[] = SCENARIOS,
): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const scenario of scenarios) {
    cells.push({ claims: option.claims, scenario, observed: await observe(option, scenario) });
  }
  return cells;
}
