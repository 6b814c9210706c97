/** A call during which another version is deployed, while its user thinks. */

import { createWorld, type World } from '@mrtr/comparison';
import { toolCall, withWorld } from '@mrtr/comparison/calls';
import type { Change } from '@mrtr/comparison/claims';
import type { LoadedOption } from '@mrtr/comparison/options';
import {
  type ConversationRequest,
  converse,
  type Hosting,
  type ShownQuestion,
  scriptedUser,
} from '@mrtr/harness';
import type { Recorder } from '@mrtr/harness/internal';
import { ORDER } from './subject.ts';

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

export function claimOf({ option, change, moment }: Claimed) {
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
) {
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
