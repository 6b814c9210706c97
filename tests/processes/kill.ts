/** Kills the processes of calls while their users are thinking, and measures how the calls end. */

import { callSubjectByHand, type Measured, SCRIPTS } from '@mrtr/comparison/calls';
import type { Transcript } from '@mrtr/harness/transcript';
import { requestOf, type Scenario } from '@mrtr/matrix';
import type { Processes } from './deployment.ts';

type KillScenario = Omit<Scenario, 'hosting'>;

/** Calls of one question and of two, by clients of both eras. */
const KILL_SCENARIOS = (['modern', 'legacy'] as const).flatMap((client) =>
  SCRIPTS.filter(({ name }) => name === 'metric' || name === 'duplicate').map(
    (script): KillScenario => ({ client, legacy: 'shim', script }),
  ),
);

export interface KillCell {
  readonly option: Measured;
  readonly scenario: KillScenario;
  readonly conversation: Transcript;
}

/**
 * Makes all calls, until each asks its first question or ends. Then kills the processes that asked, all at once, with
 * SIGKILL. Then the users answer. The caller closes the other processes, which are not used again.
 *
 * @throws Error if no instance of a fleet would be left.
 */
export async function measureKills(
  options: readonly Measured[],
  { startHosting }: Processes,
): Promise<readonly KillCell[]> {
  const cells = options.flatMap((option) => KILL_SCENARIOS.map((scenario) => ({ option, scenario })));
  const calls = await Promise.all(
    cells.map(({ option, scenario }) => {
      // An old client is asked over its connection. The rounds of a new one may reach any process.
      const hosting = scenario.client === 'legacy' ? 'http' : 'processes';
      return callSubjectByHand(requestOf(option, { ...scenario, hosting }), startHosting);
    }),
  );
  const victims = new Set(
    calls.flatMap(({ first, hosting }) => (first.end ? [] : (hosting.servedLast() ?? []))),
  );
  await Promise.all([...victims].map((instance) => instance.kill()));
  return Promise.all(
    calls.map(async (call, at) => {
      const cell = cells[at] as (typeof cells)[number];
      const user = cell.scenario.script.user();
      for (let round = call.first; !round.end; ) round = await round.answer(user);
      return { ...cell, conversation: await call.close() };
    }),
  );
}
