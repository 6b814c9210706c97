/** A call during which another version is deployed, while its user thinks. */

import { createWorld, type World } from '@mrtr/comparison';
import { toolCall, withWorld } from '@mrtr/comparison/calls';
import type { Change, DeployOutcome } from '@mrtr/comparison/claims';
import type { LoadedOption } from '@mrtr/comparison/options';
import {
  type ConversationRequest,
  converse,
  type Hosting,
  type ShownQuestion,
  scriptedUser,
} from '@mrtr/harness';
import type { Recorder } from '@mrtr/harness/internal';
import { resultText, type Transcript } from '@mrtr/harness/transcript';
import { isAsk } from '../outlines/outline.ts';
import { answersIn, effectsIn, outcomeOf } from './outcome.ts';
import { ORDER } from './subject.ts';
import { STEPS } from './versioned-tool.ts';

/** The moment of the deploy: while the size is asked, or after its answer, while the colour is asked. */
export type Moment = 'asked' | 'answered';
export const MOMENTS: readonly Moment[] = ['asked', 'answered'];

export interface DeployScenario {
  readonly option: LoadedOption;
  readonly change: Change;
  readonly moment: Moment;
}

export interface TwoVersions extends Hosting {
  deploy(): Promise<void>;
}

/** Starts version 1 of the tool, of which `deploy` makes version 2. */
export type StartVersions = (
  scenario: DeployScenario,
  context: { readonly world: World; readonly recorder: Recorder },
) => TwoVersions | Promise<TwoVersions>;

type Claimed = Omit<DeployScenario, 'option'> & { readonly option: Pick<LoadedOption, 'id' | 'claims'> };

export function claimOf({ option, change, moment }: Claimed): DeployOutcome {
  const claim = option.claims.deploys?.[change];
  if (claim === undefined)
    throw new Error(`Option ${option.id} claims nothing of a deploy: \`claims.deploys\`.`);
  return typeof claim === 'string' ? claim : claim[moment === 'asked' ? 0 : 1];
}

/** Makes the call, and deploys the other version at its moment. */
export async function callThroughDeploy(
  scenario: DeployScenario,
  startVersions: StartVersions,
  over: Partial<ConversationRequest> = {},
): Promise<Transcript> {
  let hosting: TwoVersions | undefined;
  let asked = 0;
  const answers = scriptedUser({ size: ['M', 'L'], colour: ['red'], gift: ['no'] });
  const user = async (question: ShownQuestion) => {
    asked++;
    if (asked === (scenario.moment === 'asked' ? 1 : 2)) await hosting?.deploy();
    return answers(question);
  };
  const call = toolCall(ORDER, {});
  const transcript = await converse({ client: 'modern', call, user, ...over }, async (recorder) => {
    const world = createWorld({ onAudit: (name) => recorder.record({ kind: 'effect', name, detail: name }) });
    hosting = await startVersions(scenario, { world, recorder });
    return hosting;
  });
  return withWorld(transcript);
}

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
