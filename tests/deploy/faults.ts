/** Outcomes of a deploy that must never occur. */
import { resultText, type Transcript } from '@mrtr/harness/transcript';
import { type DeployScenario, STEPS } from '@mrtr/matrix/deploy';
import { answersIn, effectsIn, outcomeOf } from '@mrtr/matrix/deploy/outcome';
import { isAsk } from '@mrtr/matrix/outlines';

/** Describes outcomes that must never occur: a wrong value, a crash, an effect after a refusal, or a missing effect. */
export function faultsOf({ change }: DeployScenario, transcript: Transcript): string[] {
  const { events, end } = transcript;
  const text = end.error?.message ?? resultText(end.result ?? {});
  const effects = effectsIn(events);
  if (outcomeOf(transcript) === 'rejects') {
    return [
      ...(EXPLAINED.test(text) ? [] : [`it fails with: ${text}`]),
      ...(effects.join() === 'ticket' || effects.length === 0 ? [] : [`it is rejected, and does ${effects}`]),
    ];
  }
  const steps = STEPS[change];
  const answers = Object.assign({}, ...answersIn(events)) as Readonly<Record<string, unknown>>;
  const values: Record<string, unknown> = { ...answers, ticket: 'T1', reserve: 'R1' };
  const right = `Ordered: ${steps
    .map(({ name }) => `${name} ${values[name]}`)
    .sort()
    .join(', ')}.`;
  const unfit = steps.filter(isAsk).filter(({ name, choices }) => !choices.includes(String(answers[name])));
  const left = [...steps.filter((step) => !isAsk(step)).map(({ name }) => name), 'order'].filter(
    (name) => !effects.includes(name),
  );
  return [
    ...(text === right ? [] : [`it says "${text}", and "${right}" is right`]),
    ...unfit.map(({ name }) => `the ${name} is ${answers[name]}, which this version does not allow`),
    ...left.map((name) => `it leaves out ${name}`),
  ];
}

const EXPLAINED = /Invalid or expired requestState$|^This call cannot be resumed/;
