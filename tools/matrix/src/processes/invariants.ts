/** An invariant that only real processes can violate. `tests/broken` has options that do. */
import type { Violations } from '../measure/invariants.ts';
import { summarize, where } from '../measure/measurement.ts';
import { predict } from '../measure/predict.ts';
import type { KillCell } from './kill.ts';

/** A call whose process is killed while its user thinks finishes elsewhere, or fails clearly and writes no more. */
export function killsAsClaimed({ option, scenario: killed, survivor }: KillCell): Violations {
  const { conversation, asked, writtenAfter } = survivor;
  if (!asked) return [`option ${option.id} · ${killed.client} · ${killed.script.name}: nobody was asked`];
  const legacy = killed.client === 'legacy';
  const scenario = { ...killed, hosting: legacy ? 'http' : 'processes' } as const;
  const { measurement } = summarize(option, scenario, conversation, {
    otherInstance: 'finishes',
    restart: 'finishes',
  });
  const wrong: Violations = [];
  const complain = (words: string) => wrong.push(`${where(measurement)}, killed: ${words}`);
  // An old client's call ends with its connection.
  const claim = legacy ? 'lost' : option.claims.modern.afterKill;
  const { outcome, audits, writes, result } = measurement;
  if (claim === 'finishes') {
    // The call must end as if no process had died.
    const expected = predict(option.claims, { ...killed, hosting: 'http' });
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

/** The expected error of a client: call again, or the connection is lost. */
const CLEAR = { rejected: /again|requestState/, lost: /connection/i } as const;
