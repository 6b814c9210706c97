/** Shape I: each question is a resolver; a tool names the ones that it needs, and is entered when all are answered. */
import { requestContext, resolve, resolver } from '@mrtr/shapes/resolve';
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

const context = { ctx: requestContext() };

const name = resolver('user_name', {}, () => userName);
const capital = resolver('capital_question', {}, () => capitalQuestion);
const greeted = resolver('greeting', {}, () => greeting);
const roots = resolver('client_roots', {}, () => clientRoots);
const confirmed = resolver('confirm', {}, () => confirm);
const first = resolver('step1', {}, () => step1);
// It needs the first one's answer only to come after it: two resolvers without needs would be asked together.
const second = resolver('step2', { first }, () => step2);
const inContext = resolver('user_context', {}, () => userContext);
const nameIfAskable = resolver('user_name', context, ({ ctx }) =>
  ctx.canAsk(userName.kind) ? userName : undefined,
);
const capitalIfAskable = resolver('capital_question', context, ({ ctx }) =>
  ctx.canAsk(capitalQuestion.kind) ? capitalQuestion : undefined,
);

/** The handlers. */
export const resolveFixture: Fixture = {
  greet: resolve(noArguments, { name }, ({ name }) => hello(name)),
  capital: resolve(noArguments, { capital }, ({ capital }) => saidByModel(capital)),
  roots: resolve(noArguments, { roots }, ({ roots }) => rootsFound(roots)),
  confirm: resolve(noArguments, { confirmed }, ({ confirmed }) => stateOk(confirmed)),
  introduce: resolve(noArguments, { name, greeted, roots }, ({ name, greeted, roots }) =>
    introduced(name, greeted, roots),
  ),
  twoSteps: resolve(noArguments, { first, second }, ({ first, second }) => liking(first, second)),
  askable: resolve(
    noArguments,
    { user_name: nameIfAskable, capital_question: capitalIfAskable },
    ({ user_name, capital_question }) =>
      allAnswered([...(user_name ? ['user_name'] : []), ...(capital_question ? ['capital_question'] : [])]),
  ),
  prompt: resolve(noArguments, { inContext }, ({ inContext }) => promptIn(inContext)),
};
