/** Finds the conditions of a check that are not met. */
import { abstain, type Need, notApplicable, notGiven } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { asksForYes } from '../observations/consents.ts';
import { isElicitation, isForm } from '../observations/forms.ts';
import { type CompleteInputs, nameOf, transportOf } from '../target/target.ts';
import { type JsonObject, objectAt } from '../wire/json.ts';

export function lacking(needs: readonly Need[], context: CheckContext) {
  const { effects, inputs, nextUnready, otherArguments } = context;
  for (const need of needs) {
    if (need === 'effects' && effects.mode === 'blind') return abstain(effects.reason);
    if (need === 'next' && nextUnready !== undefined) return abstain(nextUnready);
    if (need === 'other-arguments' && takesNothing(context)) return notApplicable('it takes no arguments');
    if (need === 'other-arguments' && otherArguments === undefined)
      return notGiven('--other-arguments was not given, and none could be derived from the input schema');
    const [isThere, words] = ON_THE_SERVER[need] ?? [() => true, ''];
    if (!isThere(context)) return notApplicable(words);
    const missing = missingInput(need, inputs);
    if (missing !== undefined) return notGiven(missing);
  }
  return undefined;
}

/** Whether the server lists the tool without any argument. */
function takesNothing({ operation, entries }: CheckContext) {
  const schema = entries.get(nameOf(operation))?.inputSchema;
  const names = Object.keys({ ...objectAt(schema, 'properties'), ...operation.arguments });
  return schema !== undefined && names.length === 0;
}

/** Returns a sentence about an input that the check needs and the user did not give. Needs no server. */
export function missingInput(need: Need, inputs: CompleteInputs) {
  const [isGiven, words] = IN_THE_INPUTS[need] ?? [() => true, ''];
  return isGiven(inputs) ? undefined : words.replace('KIND', inputs.operation.kind);
}

type Conditions<Of> = Partial<Record<Need, readonly [holds: (of: Of) => boolean, otherwise: string]>>;

const isHttp = ({ address }: CompleteInputs) => transportOf(address) === 'http';
const ONE_PRINCIPAL = 'over stdio there is one principal';
const ONE_CONNECTION = 'over stdio there is no connection of one request';

const IN_THE_INPUTS: Conditions<CompleteInputs> = {
  effects: [({ probe }) => probe !== undefined, '--probe was not given, so that effects are not seen'],
  'other-tool': [
    ({ operation, otherOperation }) => otherOperation?.kind === operation.kind,
    '--other-operation KIND:NAME was not given',
  ],
  'other-method': [
    ({ operation: { kind }, otherOperation: other }) => other !== undefined && other.kind !== kind,
    '--other-operation with another kind (tool:, prompt: or resource:) was not given',
  ],
  'other-principal': [
    ({ address }) => address.otherHeaders !== undefined || transportOf(address) === 'stdio',
    '--other-header was not given',
  ],
  'second-instance': [({ address: { also, command } }) => !!(also ?? command), '--also was not given'],
  restart: [({ address: { restart, command } }) => !!(restart ?? command), '--restart was not given'],
  next: [({ address }) => address.next !== undefined, '--next was not given'],
  ttl: [({ ttlSeconds }) => ttlSeconds !== undefined, '--ttl was not given'],
  http: [isHttp, ONE_CONNECTION],
};

const asks =
  (picked: (request: JsonObject) => boolean) =>
  ({ facts }: CheckContext) =>
    facts.questions.some(({ request }) => picked(request));

/** A check without one of these is not applicable, whatever the inputs. */
const ON_THE_SERVER: Conditions<CheckContext> = {
  question: [({ facts }) => facts.rounds.length > 0, 'the operation asks nothing'],
  state: [({ facts }) => facts.carriesState, 'the server sends no requestState'],
  form: [asks(isForm), 'the operation asks no form'],
  elicitation: [asks(isElicitation), 'the operation elicits nothing from its user'],
  consent: [
    (context) => context.inputs.needsConsent || asks(asksForYes)(context),
    'no question asks for a yes; with --needs-consent each of them counts as one that does',
  ],
  'two-rounds': [({ facts }) => facts.rounds.length > 1, 'the operation has one round of questions'],
  'two-questions': [
    ({ facts }) => facts.rounds.some(({ requests }) => Object.keys(requests).length > 1),
    'the operation never asks two questions at once',
  ],
  effects: [({ effects }) => effects.mode !== 'none', 'the operation only reads'],
  'other-principal': [({ inputs }) => isHttp(inputs), ONE_PRINCIPAL],
  http: [({ inputs }) => isHttp(inputs), ONE_CONNECTION],
};
