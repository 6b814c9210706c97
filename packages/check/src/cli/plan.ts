/** `--dry-run`: the requests that a run would send. */
import type { Check } from '../judging/check.ts';
import { missingInput } from '../run/needs.ts';
import { selectChecks } from '../run/run.ts';
import { LOOKED_AT } from '../run/schedule.ts';
import { type CompleteInputs, nameOf } from '../target/target.ts';

const calibrating = ({ probe }: CompleteInputs, rounds: number) =>
  probe === undefined ? 0 : LOOKED_AT * (rounds + 1);

const PREPARATION = 2;
const HONEST_CALLS = 2;

interface Planned {
  readonly check: Check;
  readonly calls: number;
  readonly missing?: string;
}

export function planText(inputs: CompleteInputs) {
  const one = planChecks(inputs, 1);
  const two = planChecks(inputs, 2);
  const lines = one.map(({ check, calls, missing }, at) => {
    const count = missing ? `not run: ${missing}` : `${calls} or ${two[at]?.calls}`;
    return `  ${check.id.padEnd(30)} ${count}`;
  });
  const total = (plan: readonly Planned[], rounds: number) =>
    plan.reduce((sum, { calls }) => sum + calls, HONEST_CALLS * (rounds + 1) + calibrating(inputs, rounds));
  const next = one.some(({ check, missing }) => check.needs.includes('next') && !missing)
    ? ', and as many to the new version'
    : '';
  return [
    `It would call ${nameOf(inputs.operation)} up to about ${total(one, 1)} times where it asks one question, and ` +
      `${total(two, 2)} times where it asks two, one after another, with the honest calls before and after each check.`,
    inputs.probe
      ? 'It would read the probe before and after each attack, about as often.'
      : 'It would see no effects: --probe was not given.',
    `Beside that ${PREPARATION} requests: server/discover and a list${next}. Nothing was sent now.`,
    '',
    'Calls, with one question or with two:',
    ...lines,
    '',
  ].join('\n');
}

function planChecks(inputs: CompleteInputs, rounds: number) {
  return selectChecks(inputs.only).map((check) => {
    const missing = check.needs.map((need) => missingInput(need, inputs)).find((one) => one !== undefined);
    if (missing !== undefined) return { check, calls: 0, missing };
    return { check, calls: check.calls(rounds) + rounds + 1 };
  });
}
