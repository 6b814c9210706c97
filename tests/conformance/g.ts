/** Shape G: each question is a step, and the end step makes the result from the answers. */
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import type { Fixture, NoArguments } from './fixture.ts';
import {
  allAnswered,
  askable,
  capitalQuestion,
  clientRoots,
  confirm,
  greeting,
  hello,
  introduced,
  liking,
  promptIn,
  rootsFound,
  saidByModel,
  stateOk,
  step1,
  step2,
  userContext,
  userName,
} from './questions.ts';

const steps = new ToolBuilder<NoArguments>();

/** The handlers. */
export const toolBuilderFixture: Fixture = {
  greet: steps
    .incompleteStep('user_name', () => userName)
    .endStep((_, { user_name }) => hello(user_name))
    .build(),

  capital: steps
    .incompleteStep('capital_question', () => capitalQuestion)
    .endStep((_, { capital_question }) => saidByModel(capital_question))
    .build(),

  roots: steps
    .incompleteStep('client_roots', () => clientRoots)
    .endStep((_, { client_roots }) => rootsFound(client_roots))
    .build(),

  confirm: steps
    .incompleteStep('confirm', () => confirm)
    .endStep((_, data) => stateOk(data.confirm))
    .build(),

  introduce: steps
    .incompleteStep('all', () => ({ user_name: userName, greeting, client_roots: clientRoots }))
    .endStep((_, { all }) => introduced(all.user_name, all.greeting, all.client_roots))
    .build(),

  twoSteps: steps
    .incompleteStep('step1', () => step1)
    .incompleteStep('step2', () => step2)
    .endStep((_, data) => liking(data.step1, data.step2))
    .build(),

  askable: steps
    .incompleteStep('askable', (_, __, step) => askable(step.canAsk))
    .endStep((_, data) => allAnswered(Object.keys(data.askable)))
    .build(),

  prompt: steps
    .incompleteStep('user_context', () => userContext)
    .endStep((_, { user_context }) => promptIn(user_context))
    .build(),
};
