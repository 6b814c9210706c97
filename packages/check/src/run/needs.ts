/** Finds the conditions of a check that are not met. */
import { abstain, type Finding, type Need, notApplicable, notGiven } from '../judging/check.ts';
import type { CheckContext } from '../judging/context.ts';
import { asksForYes } from '../observations/consents.ts';
import { isElicitation, isForm } from '../observations/forms.ts';
import { type CompleteInputs, transportOf } from '../target/target.ts';
import type { JsonObject } from '../wire/json.ts';

export function lacking(needs: readonly Need[], context: CheckContext): Finding | undefined {
  for (const need of needs) {
    const finding = LACK[need]?.(context);
    if (finding) return finding;
    const actual = missingInput(need, context.inputs);
    if (actual !== undefined) return notGiven(actual);
  }
  return undefined;
}

/** Returns a sentence about an input that the check needs and the user did not give. Needs no server. */
export function missingInput(need: Need, inputs: CompleteInputs) {
  const [isGiven, words] = GIVEN[need]?.(inputs) ?? [true, ''];
  return isGiven ? undefined : words;
}

const isHttp = ({ address }: CompleteInputs) => transportOf(address) === 'http';
const ONE_PRINCIPAL = 'over stdio there is one principal';
const ONE_CONNECTION = 'over stdio there is no connection of one request';

const GIVEN: Partial<Record<Need, (inputs: CompleteInputs) => readonly [isGiven: boolean, words: string]>> = {
  effects: ({ probe }) => [probe !== undefined, '--probe was not given, so that effects are not seen'],
  'other-tool': ({ operation: { kind }, otherOperation }) => [
    otherOperation?.kind === kind,
    `--other-operation ${kind}:NAME was not given`,
  ],
  'other-method': ({ operation, otherOperation }) => [
    otherOperation !== undefined && otherOperation.kind !== operation.kind,
    '--other-operation with another kind (tool:, prompt: or resource:) was not given',
  ],
  'other-principal': (inputs) =>
    isHttp(inputs)
      ? [inputs.address.otherHeaders !== undefined, '--other-header was not given']
      : [false, ONE_PRINCIPAL],
  'second-instance': ({ address: { also, command } }) => [!!(also ?? command), '--also was not given'],
  restart: ({ address: { restart, command } }) => [!!(restart ?? command), '--restart was not given'],
  next: ({ address }) => [address.next !== undefined, '--next was not given'],
  ttl: ({ ttlSeconds }) => [ttlSeconds !== undefined, '--ttl was not given'],
  http: (inputs) => [isHttp(inputs), ONE_CONNECTION],
};

/** The finding for a feature that the server lacks, whatever the inputs. */
const absent = (present: boolean, actual: string) => (present ? undefined : notApplicable(actual));

const anyRequest = ({ facts }: CheckContext, picked: (request: JsonObject) => boolean) =>
  facts.questions.some(({ request }) => picked(request));

const LACK: Partial<Record<Need, (context: CheckContext) => Finding | undefined>> = {
  question: ({ facts }) => absent(facts.rounds.length > 0, 'the operation asks nothing'),
  state: ({ facts }) => absent(facts.carriesState, 'the server sends no requestState'),
  form: (context) => absent(anyRequest(context, isForm), 'the operation asks no form'),
  elicitation: (context) =>
    absent(anyRequest(context, isElicitation), 'the operation elicits nothing from its user'),
  consent: (context) =>
    absent(
      context.inputs.needsConsent || anyRequest(context, asksForYes),
      'no question asks for a yes; with --needs-consent each of them counts as one that does',
    ),
  'two-rounds': ({ facts }) => absent(facts.rounds.length > 1, 'the operation has one round of questions'),
  'two-questions': ({ facts }) =>
    absent(
      facts.rounds.some(({ requests }) => Object.keys(requests).length > 1),
      'the operation never asks two questions at once',
    ),
  effects: ({ effects }) =>
    effects.mode === 'blind'
      ? abstain(effects.reason)
      : absent(effects.mode !== 'none', 'the operation only reads'),
  'other-arguments': ({ otherArguments }) =>
    otherArguments === undefined
      ? notGiven('--other-arguments was not given, and none could be derived from the input schema')
      : undefined,
  'other-principal': ({ inputs }) => absent(isHttp(inputs), ONE_PRINCIPAL),
  next: ({ nextUnready: actual }) => (actual === undefined ? undefined : abstain(actual)),
  http: ({ inputs }) => absent(isHttp(inputs), ONE_CONNECTION),
};
