/** Shape J: the same linear code as H's, without held frames. Each round enters it and replays its steps. */
import { journal } from '@mrtr/shapes/journal';
import type { Fixture } from './fixture.ts';
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

/** The handlers. */
export const journalFixture: Fixture = {
  greet: journal(async (_, ctx) => hello(await ctx.ask('user_name', userName))),

  capital: journal(async (_, ctx) => saidByModel(await ctx.ask('capital_question', capitalQuestion))),

  roots: journal(async (_, ctx) => rootsFound(await ctx.ask('client_roots', clientRoots))),

  confirm: journal(async (_, ctx) => stateOk(await ctx.ask('confirm', confirm))),

  introduce: journal(async (_, ctx) => {
    const all = await ctx.ask({ user_name: userName, greeting, client_roots: clientRoots });
    return introduced(all.user_name, all.greeting, all.client_roots);
  }),

  twoSteps: journal(async (_, ctx) => {
    const name = await ctx.ask('step1', step1);
    return liking(name, await ctx.ask('step2', step2));
  }),

  askable: journal(async (_, ctx) => {
    return allAnswered(Object.keys(await ctx.ask(askable(ctx.canAsk))));
  }),

  prompt: journal(async (_, ctx) => promptIn(await ctx.ask('user_context', userContext))),
};
