/** Two more invariants that only real processes can show. `tests/broken` has an option for each. */
import { diffViews, hostView } from '@mrtr/harness/transcript';
import type { Violations } from '../measure/invariants.ts';
import { summarize, where } from '../measure/observe.ts';
import { predict } from '../measure/predict.ts';
import type { KillCell, ProcessCell } from './measure.ts';

/** 8. A call shows the host application the same in separate processes as in this one. */
export const sameAcrossHostings = (cells: readonly ProcessCell[]): Violations =>
  cells.flatMap(({ observed: { observation, conversation }, counterpart }) => {
    const here = { title: `${where(observation)}, in this process`, lines: hostView(counterpart) };
    const there = { title: where(observation), lines: hostView(conversation) };
    return diffViews(here, there) ?? [];
  });

/** 9. A call whose process is killed while its user thinks finishes elsewhere, or fails clearly and writes no more. */
export function killsAsClaimed({ option, play, survivor }: KillCell): Violations {
  const { conversation, asked, writtenAfter } = survivor;
  if (!asked) return [];
  const legacy = play.client === 'legacy';
  const scenario = { ...play, hosting: legacy ? 'http' : 'processes' } as const;
  const { observation } = summarize(option, scenario, conversation, {
    otherInstance: 'finishes',
    restart: 'finishes',
  });
  const wrong: Violations = [];
  const complain = (words: string) => wrong.push(`${where(observation)}, killed: ${words}`);
  const claim = legacy ? option.claims.legacy.afterKill : option.claims.modern.afterKill;
  const { outcome, audits, writes, result } = observation;
  if (claim === 'finishes') {
    // The call has to end as if no process had died.
    const expected = predict(option.claims, { ...play, hosting: 'http' });
    if (outcome !== expected.outcome)
      complain(`claims ${expected.outcome}, ended with ${outcome}: ${result}`);
    if (audits !== expected.audits) complain(`claims ${expected.audits} audit entries, measured ${audits}`);
    if (writes !== expected.writes) complain(`claims ${expected.writes} writes, measured ${writes}`);
    return wrong;
  }
  if (outcome !== 'error') complain(`claims to be ${claim}, ended with '${outcome}': ${result}`);
  if (writtenAfter > 0) complain(`failed, and wrote ${writtenAfter} entries after that`);
  if (!CLEAR[claim].test(result)) complain(`failed with an unclear message: ${result}`);
  return wrong;
}

/** The error for a client: it has to call again, or its connection is gone. */
const CLEAR = { refused: /again|requestState/, lost: /connection/i } as const;
