/** An invariant that only real processes can violate. `tests/broken` has options that do. */
import { eventsOf } from '@mrtr/harness/transcript';
import { summarize } from '@mrtr/matrix';
import { effectsAsClaimed, type Violations, violationsIn, where } from '../matrix/invariants.ts';
import type { KillCell } from './kill.ts';

/** A call whose process is killed while its user thinks finishes elsewhere, or fails clearly and writes no more. */
export function killsAsClaimed({ option, scenario: killed, conversation }: KillCell): Violations {
  const { claims } = option;
  // An old client's call ends with its connection.
  const claim = killed.client === 'legacy' ? 'lost' : claims.modern.afterKill;
  const hosting = claim === 'lost' ? 'http' : 'processes';
  const survival = { otherInstance: 'finishes', restart: 'finishes' } as const;
  const call = summarize(option, { ...killed, hosting }, conversation, survival);
  const { outcome, result } = call.measurement;
  const { events } = conversation;
  const atKill = events.findIndex(({ kind }) => kind === 'kill');
  const writtenAfter = eventsOf('effect', events.slice(atKill)).length;
  const wrong = violationsIn({
    'nobody was asked': eventsOf('question', events.slice(0, atKill)).length === 0,
    ...(claim !== 'finishes' && {
      [`claims to be ${claim}, ended with '${outcome}': ${result}`]: outcome !== 'error',
      [`failed, and wrote ${writtenAfter} entries after that`]: writtenAfter > 0,
      [`failed with an unclear message: ${result}`]: !CLEAR[claim].test(result),
    }),
  });
  // The call must end as if no process had died.
  const asIfAlive = { claims, scenario: { ...killed, hosting: 'http' }, call } as const;
  if (claim === 'finishes') wrong.push(...effectsAsClaimed(asIfAlive));
  return wrong.map((one) => `${where(call.measurement)}, killed: ${one}`);
}

/** The expected error of a client: call again, or the connection is lost. */
const CLEAR = { rejected: /again|requestState/, lost: /connection/i } as const;
