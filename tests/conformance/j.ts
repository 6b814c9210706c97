/** Shape J: the same linear code as H's, and nothing held; it is entered in each round and its steps are replayed. */
import { journaled } from '@mrtr/shapes/journal';
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
import { unaskedAnswer } from './unasked-answer.ts';

/** The handlers. */
export const journalFixture: Fixture = {
  greet: journaled(async (_, ctx) => {
    const early = unaskedAnswer(ctx.request, 'user_name', userName);
    return hello(early ?? (await ctx.ask('user_name', userName)));
  }),

  capital: journaled(async (_, ctx) => saidByModel(await ctx.ask('capital_question', capitalQuestion))),

  roots: journaled(async (_, ctx) => rootsFound(await ctx.ask('client_roots', clientRoots))),

  confirm: journaled(async (_, ctx) => stateOk(await ctx.ask('confirm', confirm))),

  introduce: journaled(async (_, ctx) => {
    // Awaited together, so they go out in one round.
    const [name, greeted, roots] = await Promise.all([
      ctx.ask('user_name', userName),
      ctx.ask('greeting', greeting),
      ctx.ask('client_roots', clientRoots),
    ]);
    return introduced(name, greeted, roots);
  }),

  twoSteps: journaled(async (_, ctx) => {
    const name = await ctx.ask('step1', step1);
    return liking(name, await ctx.ask('step2', step2));
  }),

  askable: journaled(async (_, ctx) => {
    const questions = Object.entries(askable(ctx.canAsk));
    await Promise.all(questions.map(([key, question]) => ctx.ask(key, question)));
    return allAnswered(questions.map(([key]) => key));
  }),

  prompt: journaled(async (_, ctx) => promptIn(await ctx.ask('user_context', userContext))),
};
