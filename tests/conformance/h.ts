/** Shape H: linear code that waits in this process, with its frame parked between rounds. */
import { type ContinuationStore, linear } from '@mrtr/shapes/linear';
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

/** The handlers. `store` holds what waits; it has to outlive a request, on which a server is made anew. */
export function linearFixture(store: ContinuationStore): Fixture {
  const greet = linear(
    async (_: NoArguments, ctx) => hello((await ctx.ask({ user_name: userName })).user_name),
    { store },
  );

  return {
    async greet(input, ctx) {
      const early = unaskedAnswer(ctx, 'user_name', userName);
      return early ? hello(early) : greet(input, ctx);
    },

    capital: linear(
      async (_, ctx) => {
        const answers = await ctx.ask({ capital_question: capitalQuestion });
        return saidByModel(answers.capital_question);
      },
      { store },
    ),

    roots: linear(async (_, ctx) => rootsFound((await ctx.ask({ client_roots: clientRoots })).client_roots), {
      store,
    }),

    confirm: linear(async (_, ctx) => stateOk((await ctx.ask({ confirm })).confirm), { store }),

    introduce: linear(
      async (_, ctx) => {
        const all = await ctx.ask({ user_name: userName, greeting, client_roots: clientRoots });
        return introduced(all.user_name, all.greeting, all.client_roots);
      },
      { store },
    ),

    twoSteps: linear(
      async (_, ctx) => {
        const first = await ctx.ask({ step1 });
        const second = await ctx.ask({ step2 });
        return liking(first.step1, second.step2);
      },
      { store },
    ),

    askable: linear(
      async (_, ctx) => {
        const questions = askable(ctx.canAsk);
        if (Object.keys(questions).length === 0) return allAnswered([]);
        return allAnswered(Object.keys(await ctx.ask(questions)));
      },
      { store },
    ),

    prompt: linear(async (_, ctx) => promptIn((await ctx.ask({ user_context: userContext })).user_context), {
      store,
    }),
  };
}
