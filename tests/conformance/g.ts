/** Shape G: each question is a step, and the end step says what comes of the answers. */
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
import { unaskedAnswer } from './unasked-answer.ts';

const steps = new ToolBuilder<NoArguments>();

/** The handlers. */
export const toolBuilderFixture: Fixture = {
  greet: steps
    .incompleteStep(
      'user_name',
      (_, __, step) => unaskedAnswer(step.request, 'user_name', userName) ?? step.ask(userName),
    )
    .endStep((_, { user_name }) => hello(user_name))
    .build(),

  capital: steps
    .incompleteStep('capital_question', (_, __, step) => step.ask(capitalQuestion))
    .endStep((_, { capital_question }) => saidByModel(capital_question))
    .build(),

  roots: steps
    .incompleteStep('client_roots', (_, __, step) => step.ask(clientRoots))
    .endStep((_, { client_roots }) => rootsFound(client_roots))
    .build(),

  confirm: steps
    .incompleteStep('confirm', (_, __, step) => step.ask(confirm))
    .endStep((_, data) => stateOk(data.confirm))
    .build(),

  introduce: steps
    .incompleteStep('all', (_, __, step) =>
      step.ask({ user_name: userName, greeting, client_roots: clientRoots }),
    )
    .endStep((_, { all }) => introduced(all.user_name, all.greeting, all.client_roots))
    .build(),

  twoSteps: steps
    .incompleteStep('step1', (_, __, step) => step.ask(step1))
    .incompleteStep('step2', (_, __, step) => step.ask(step2))
    .endStep((_, data) => liking(data.step1, data.step2))
    .build(),

  askable: steps
    .incompleteStep('askable', (_, __, step) => step.ask(askable(step.canAsk)))
    .endStep((_, data) => allAnswered(Object.keys(data.askable)))
    .build(),

  prompt: steps
    .incompleteStep('user_context', (_, __, step) => step.ask(userContext))
    .endStep((_, { user_context }) => promptIn(user_context))
    .build(),
};
