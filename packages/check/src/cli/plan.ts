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

export function planText(inputs: CompleteInputs) {
  const plan = selectChecks(inputs.only).map((check) => ({ check, missing: missingFor(check, inputs) }));
  const running = plan.filter(({ missing }) => missing === undefined).map(({ check }) => check);
  const callsOf = (check: Check, rounds: number) => check.calls(rounds) + rounds + 1;
  const total = (rounds: number) =>
    running.reduce(
      (sum, check) => sum + callsOf(check, rounds),
      HONEST_CALLS * (rounds + 1) + calibrating(inputs, rounds),
    );
  const lines = plan.map(({ check, missing }) => {
    const count = missing ? `not run: ${missing}` : `${callsOf(check, 1)} or ${callsOf(check, 2)}`;
    return `  ${check.id.padEnd(30)} ${count}`;
  });
  const crosses = running.some(({ needs }) => needs.includes('next'));
  return [
    `It would call ${nameOf(inputs.operation)} up to about ${total(1)} times where it asks one question, and ` +
      `${total(2)} times where it asks two, one after another, with the honest calls before and after each check.`,
    inputs.probe
      ? 'It would read the probe before and after each attack, about as often.'
      : 'It would see no effects: --probe was not given.',
    `Beside that ${PREPARATION} requests: server/discover and a list${crosses ? ', and as many to the new version' : ''}. Nothing was sent now.`,
    '',
    'Calls, with one question or with two:',
    ...lines,
    '',
  ].join('\n');
}

const missingFor = ({ needs }: Check, inputs: CompleteInputs) =>
  needs.map((need) => missingInput(need, inputs)).find((one) => one !== undefined);
