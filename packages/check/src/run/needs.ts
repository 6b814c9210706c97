/** What a check needs that is not there. */
import type { Finding, Need } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { isForm } from '../observations/forms.ts';

/** Why a check cannot run here, or undefined. */
export function lacking(needs: readonly Need[], context: CheckContext): Finding | undefined {
  for (const need of needs) {
    const finding = LACK[need](context);
    if (finding) return finding;
  }
  return undefined;
}

/** What the server does not have: nothing that the user could give would change that. */
const absent = (present: boolean, actual: string): Finding | undefined =>
  present ? undefined : { kind: 'not-applicable', actual };

/** What the user did not give. */
const missing = (present: boolean, actual: string): Finding | undefined =>
  present ? undefined : { kind: 'not-given', actual };

/** For each need, the finding of a check that has to do without it. */
const LACK: Record<Need, (context: CheckContext) => Finding | undefined> = {
  question: ({ facts }) => absent(facts.rounds.length > 0, 'the operation asks nothing'),
  state: ({ facts }) => absent(facts.carriesState, 'the server sends no requestState'),
  form: ({ facts }) =>
    absent(
      facts.rounds.some(({ requests }) => Object.values(requests).some(isForm)),
      'the operation asks no form',
    ),
  elicitation: ({ facts }) =>
    absent(
      facts.rounds.some(({ requests }) =>
        Object.values(requests).some(({ method }) => method === 'elicitation/create'),
      ),
      'the operation elicits nothing from its user',
    ),
  'two-rounds': ({ facts }) => absent(facts.rounds.length > 1, 'the operation has one round of questions'),
  'two-questions': ({ facts }) =>
    absent(
      facts.rounds.some(({ requests }) => Object.keys(requests).length > 1),
      'the operation never asks two questions at once',
    ),
  effects: ({ effects }) => {
    if (effects.mode === 'blind') return { kind: 'undecided', actual: effects.reason };
    if (effects.mode === 'none') return { kind: 'not-applicable', actual: 'the operation only reads' };
    return missing(effects.mode === 'observed', '--probe was not given, so that effects are not seen');
  },
  'other-arguments': ({ facts }) =>
    missing(
      facts.otherArguments !== undefined,
      '--other-arguments was not given, and none could be derived from the input schema',
    ),
  'other-tool': ({ inputs }) =>
    missing(
      inputs.otherOperation?.kind === inputs.operation.kind,
      `--other-operation ${inputs.operation.kind}:NAME was not given`,
    ),
  'other-method': ({ inputs }) =>
    missing(
      inputs.otherOperation !== undefined && inputs.otherOperation.kind !== inputs.operation.kind,
      '--other-operation with another kind (tool:, prompt: or resource:) was not given',
    ),
  'other-principal': ({ facts, inputs }) =>
    absent(facts.transport === 'http', 'over stdio there is one principal') ??
    missing(inputs.address.otherHeaders !== undefined, '--other-header was not given'),
  'second-instance': ({ fleet }) => missing(fleet.hasSecond, '--also was not given'),
  restart: ({ fleet }) => missing(fleet.canRestart, '--restart was not given'),
  next: ({ fleet, nextUnready }) =>
    missing(fleet.hasNext, '--next was not given') ??
    (nextUnready === undefined ? undefined : { kind: 'undecided', actual: nextUnready }),
  ttl: ({ inputs }) => missing(inputs.ttlSeconds !== undefined, '--ttl was not given'),
  http: ({ facts }) => absent(facts.transport === 'http', 'over stdio there is no connection of one request'),
};
