/** Derives the expected measurements of a scenario from an option's claims. */

import { GET_WEATHER } from '@mrtr/comparison';
import type { HostingKind } from '@mrtr/comparison/calls';
import type { AuditClaim, Claims, EntryClaim } from '@mrtr/comparison/claims';
import type { MeasuredEnd, Scenario } from '@mrtr/matrix';

/** Whether the hosting keeps an old client's connection, over which a server can ask. */
export const isHeld = (hosting: HostingKind): boolean => hosting === 'memory' || hosting === 'http';

/** Whether a call's rounds reach different instances. */
export const isSpread = (hosting: HostingKind): boolean => hosting === 'fleet' || hosting === 'processes';

/** The measured fields that claims cover. Claims say nothing about an undefined field. */
export const predict = (claims: Claims, scenario: Scenario) =>
  scenario.client === 'legacy' ? predictLegacy(claims, scenario) : predictModern(claims, scenario);

function predictModern({ modern }: Claims, { client, hosting, script }: Scenario) {
  const survival = { otherInstance: modern.otherInstance, restart: modern.restart };
  if (client === 'unaskable') {
    const outcome = outcomeUnasked(script.tool, modern.unaskable);
    return { ...effects(modern, script.tool, outcome, 1), rounds: 1, framesHeld: 0, ...finishing };
  }
  const { framesHeld } = modern;
  if (isSpread(hosting) && modern.otherInstance === 'rejected') {
    return { ...effects(modern, script.tool, 'error', 1), rounds: 2, framesHeld, ...survival };
  }
  const rounds = script.questions + 1;
  return { ...effects(modern, script.tool, script.outcome, rounds), rounds, framesHeld, ...survival };
}

function predictLegacy({ modern, legacy }: Claims, scenario: Scenario) {
  const { hosting, script } = scenario;
  const askedWhenHeld = legacy.asked === 'always' || scenario.legacy === 'shim';
  // Another instance cannot resume a call that asks over its own connection. A call that does not ask is over.
  const survival = askedWhenHeld ? ({ otherInstance: 'rejected', restart: 'rejected' } as const) : finishing;
  const isAsked = isHeld(hosting) && askedWhenHeld;
  const unasked = outcomeUnasked(script.tool, isSpread(hosting) ? legacy.stateless : 'default');
  const [outcome, entered] = isAsked ? [script.outcome, script.questions + 1] : ([unasked, 1] as const);
  const framesHeld = isAsked ? modern.framesHeld : 0;
  return { ...effects(legacy, script.tool, outcome, entered), rounds: 1, framesHeld, ...survival };
}

const finishing = { otherInstance: 'finishes', restart: 'finishes' } as const;

/** A client that cannot be asked gets the weather by default; resolving has no default. */
const outcomeUnasked = (tool: string, claim: 'default' | 'error') =>
  claim === 'default' && tool === GET_WEATHER ? 'default' : 'error';

function effects(
  claim: { entries: EntryClaim; audit: AuditClaim },
  tool: string,
  outcome: MeasuredEnd,
  rounds: number,
) {
  const entries = claim.entries === 'once' ? 1 : rounds;
  const finished = outcome === 'elicited' || outcome === 'default';
  const audits = { 'after-answer': finished ? 1 : 0, 'before-asking': 1, 'every-entry': entries }[
    claim.audit
  ];
  return {
    outcome,
    // A call may end before its function with the effects runs: its client cannot be asked, or its user refuses.
    entries: outcome === 'error' || endsBefore(claim, outcome) ? undefined : entries,
    audits: tool !== GET_WEATHER ? 0 : outcome === 'error' && claim.audit !== 'before-asking' ? 0 : audits,
    writes: finished && tool !== GET_WEATHER ? 1 : 0,
  };
}

const endsBefore = ({ entries, audit }: { entries: EntryClaim; audit: AuditClaim }, outcome: MeasuredEnd) =>
  outcome === 'cancelled' && entries === 'once' && audit === 'after-answer';
