/**
 * The invariants of every option. Each function returns descriptions of the violations; an
 * empty list is a pass. `tests/broken` has an option for each invariant that makes it fail.
 */

import { GET_WEATHER } from '@mrtr/comparison';
import { diffViews, hostView, wireView } from '@mrtr/harness/transcript';
import { type Cell, groupBy, type Measurement } from '@mrtr/matrix';
import { isHeld, isSpread, predict } from './predict.ts';

export type Violations = string[];

/** Options with equal claims in a scenario show the host application the same. */
export const sameForTheHost = (cells: readonly Cell[]): Violations =>
  compare(cells, ({ call }) => hostView(call.conversation));

/** Their wires differ only in the masked fields, and so only in the presence of `requestState`. */
export const sameOnTheWire = (cells: readonly Cell[]): Violations =>
  compare(cells, ({ call }) => wireView(call.conversation));

/** The outcome, audit entries and writes agree with the claims. */
export const effectsAsClaimed = (cell: Cell): Violations =>
  differences(cell, ['outcome', 'audits', 'writes']);

/** Entries, rounds, state, frames and survival agree with the claims. */
export const mechanicsAsClaimed = (cell: Cell): Violations => [
  ...differences(cell, ['rounds', 'entries', 'framesHeld', 'otherInstance', 'restart']),
  ...stateAsClaimed(cell),
];

/** An old client whose call needs a session gets a clear error on stateless serving, and nothing is written. */
export function failsClearly({ claims, scenario, call: { measurement } }: Cell): Violations {
  if (scenario.client !== 'legacy' || !isSpread(scenario.hosting) || claims.legacy.stateless !== 'error')
    return [];
  const { outcome, audits, writes, result } = measurement;
  return violationsIn({
    [`should fail, but ended with '${outcome}': ${result}`]: outcome !== 'error',
    [`failed after writing ${audits + writes} entries`]: audits + writes > 0,
    [`failed with an unclear message: ${result}`]: !/client|connection/.test(result),
  });
}

/** The descriptions that are true. */
export const violationsIn = (found: Readonly<Record<string, boolean>>): Violations =>
  Object.keys(found).filter((violation) => found[violation]);

/**
 * Retries that are delivered twice write once and get the same answer. With `singleUse: false`, both are served. A parked
 * frame is the exception, because the first retry takes it. The second is rejected, or gets the first one's result if a
 * store keeps the call for other instances.
 */
export function retriesAsClaimed({ claims, call: { measurement } }: Cell): Violations {
  if (!measurement.retriedTwice) return [];
  const { 'by default': byDefault, off } = measurement.retriedTwice;
  const { framesHeld, otherInstance, forgeries } = claims.modern;
  const usable = forgeries === 'taken' ? 2 : 1;
  const stored = framesHeld === 1 && otherInstance === 'finishes';
  const parked = framesHeld === 1 && !stored;
  return violationsIn({
    [`by default, retries sent twice wrote ${byDefault.writes} times`]:
      byDefault.writes !== usable || (usable === 1 && !byDefault.sameAnswer),
    [`with single use off, retries sent twice wrote ${off.writes} times`]: parked
      ? off.writes > 1 || off.sameAnswer
      : off.writes !== (stored ? 1 : 2) || (stored && !off.sameAnswer),
  });
}

export const forgeriesAsClaimed = ({ claims, call: { measurement } }: Cell): Violations =>
  Object.entries(measurement.forged ?? {})
    .filter(([, measured]) => measured !== claims.modern.forgeries)
    .map(([what, measured]) => `claims ${what} ${claims.modern.forgeries}, measured ${measured}`);

/** The invariants that one cell can violate by itself. */
export const ofOneCell = (cell: Cell): Violations =>
  [effectsAsClaimed, mechanicsAsClaimed, failsClearly, retriesAsClaimed, forgeriesAsClaimed].flatMap(
    (invariant) => invariant(cell).map((wrong) => `${where(cell.call.measurement)}: ${wrong}`),
  );

function compare(cells: readonly Cell[], view: (cell: Cell) => string[]) {
  return groupBy(cells.filter(comparable), groupOf).flatMap(([first, ...rest]) =>
    rest.flatMap((cell) => {
      const isSilent = [first, cell].some(({ claims }) => claims.saysWhy === false);
      // An option that claims to give no reason has to be the same without any.
      const shownOf = ({ claims }: Cell) =>
        isSilent && claims.saysWhy !== false ? withoutReasons(view) : view;
      return diffViews(withTitle(first, shownOf(first)), withTitle(cell, shownOf(cell))) ?? [];
    }),
  );
}

/** For an option that asks again in the same words: the others are the same but for the reason below the words. */
const withoutReasons = (view: (cell: Cell) => string[]) => (cell: Cell) =>
  view(cell).map((line) => line.replace(REASON, ''));

const REASON = /\\n\\nThe (?:last answer did not fit|form came back empty)\.[^"]*/;

const withTitle = (cell: Cell, view: (cell: Cell) => string[]) => ({
  title: where(cell.call.measurement),
  lines: view(cell),
});

/** Calls that end in an error are not comparable: each shape has its own errors. */
function comparable({ claims, scenario }: Cell) {
  if (scenario.client === 'unaskable') return claims.modern.unaskable === 'default';
  if (isHeld(scenario.hosting)) return true;
  return scenario.client === 'modern'
    ? claims.modern.otherInstance === 'finishes'
    : claims.legacy.stateless === 'default';
}

/** Groups the cells that must look alike: those that ask the user, and those that cannot. */
function groupOf({ claims, scenario: { client, hosting, legacy, script } }: Cell) {
  const held = client === 'legacy' && isHeld(hosting);
  const asked = client === 'modern' || (held && (claims.legacy.asked === 'always' || legacy === 'shim'));
  return JSON.stringify([client, hosting, asked, script.tool, script.name]);
}

function differences(cell: Cell, fields: readonly (keyof ReturnType<typeof predict>)[]) {
  const { measurement } = cell.call;
  const predicted = predict(cell.claims, cell.scenario);
  return fields
    .filter((field) => predicted[field] !== undefined && predicted[field] !== measurement[field])
    .map((field) => `claims ${field} ${predicted[field]}, measured ${measurement[field]}`);
}

function stateAsClaimed({ claims, scenario, call: { measurement } }: Cell) {
  if (scenario.client !== 'modern' || !isHeld(scenario.hosting)) return [];
  const claimed = claims.modern.stateBytes[measurement.tool];
  const { script, stateBytes } = measurement;
  const exact = script === (measurement.tool === GET_WEATHER ? 'metric' : 'duplicate');
  const fits = exact
    ? String(stateBytes) === String(claimed)
    : stateBytes.length > 0 && (stateBytes[0] === 0) === (claimed[0] === 0);
  return fits ? [] : [`claims state of ${claimed} bytes, measured ${stateBytes}`];
}

export const where = (cell: Measurement): string =>
  `option ${cell.option} · ${cell.client} · ${cell.hosting} · ${cell.legacy} · ${cell.tool} · ${cell.script}`;
