/** Shape I: each question is a resolver; a tool names the ones that it needs, and is entered when all are answered. */
import { canAsk } from '@mrtr/core';
import { Ask, injected, requestContext, resolver } from '@mrtr/shapes/resolve';
import { type Fixture, noArguments } from './fixture.ts';
import {
  allAnswered,
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

const context = { ctx: requestContext() };

const early = resolver(
  'user_name',
  context,
  ({ ctx }) => unaskedAnswer(ctx, 'user_name', userName) ?? new Ask(userName),
);
const name = resolver('user_name', {}, () => new Ask(userName));
const capital = resolver('capital_question', {}, () => new Ask(capitalQuestion));
const greeted = resolver('greeting', {}, () => new Ask(greeting));
const roots = resolver('client_roots', {}, () => new Ask(clientRoots));
const confirmed = resolver('confirm', {}, () => new Ask(confirm));
const first = resolver('step1', {}, () => new Ask(step1));
// It needs the first one's answer, if only to come after it: two that need nothing would be asked together.
const second = resolver('step2', { first }, () => new Ask(step2));
const inContext = resolver('user_context', {}, () => new Ask(userContext));
const nameIfAskable = resolver('user_name', context, ({ ctx }) =>
  canAsk(ctx, userName.kind) ? new Ask(userName) : undefined,
);
const capitalIfAskable = resolver('capital_question', context, ({ ctx }) =>
  canAsk(ctx, capitalQuestion.kind) ? new Ask(capitalQuestion) : undefined,
);

/** The handlers. */
export const resolveFixture: Fixture = {
  greet: injected(noArguments, { early }, ({ early }) => hello(early)),
  capital: injected(noArguments, { capital }, ({ capital }) => saidByModel(capital)),
  roots: injected(noArguments, { roots }, ({ roots }) => rootsFound(roots)),
  confirm: injected(noArguments, { confirmed }, ({ confirmed }) => stateOk(confirmed)),
  introduce: injected(noArguments, { name, greeted, roots }, ({ name, greeted, roots }) =>
    introduced(name, greeted, roots),
  ),
  twoSteps: injected(noArguments, { first, second }, ({ first, second }) => liking(first, second)),
  askable: injected(
    noArguments,
    { user_name: nameIfAskable, capital_question: capitalIfAskable },
    ({ user_name, capital_question }) =>
      allAnswered([...(user_name ? ['user_name'] : []), ...(capital_question ? ['capital_question'] : [])]),
  ),
  prompt: injected(noArguments, { inContext }, ({ inContext }) => promptIn(inContext)),
};
