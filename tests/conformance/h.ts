/** Shape H: linear code that waits in this process, with its frame parked between rounds. */
import { readAnswer } from '@mrtr/core';
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

/** The handlers. `store` holds the waiting ones. It has to outlive a request, because each request has a new server. */
export function linearFixture(store: ContinuationStore): Fixture {
  const greet = linear(async (_: NoArguments, ctx) => hello(await ctx.ask('user_name', userName)), { store });

  return {
    async greet(input, ctx) {
      // A parked handler has asked already, so read an unasked answer before the handler starts.
      const isFirst = ctx.mcpReq.requestState() === undefined;
      const answer = readAnswer(ctx, 'user_name', userName);
      return isFirst && answer.kind === 'accepted' ? hello(answer.value) : greet(input, ctx);
    },

    capital: linear(async (_, ctx) => saidByModel(await ctx.ask('capital_question', capitalQuestion)), {
      store,
    }),

    roots: linear(async (_, ctx) => rootsFound(await ctx.ask('client_roots', clientRoots)), { store }),

    confirm: linear(async (_, ctx) => stateOk(await ctx.ask('confirm', confirm)), { store }),

    introduce: linear(
      async (_, ctx) => {
        const all = await ctx.ask({ user_name: userName, greeting, client_roots: clientRoots });
        return introduced(all.user_name, all.greeting, all.client_roots);
      },
      { store },
    ),

    twoSteps: linear(
      async (_, ctx) => {
        const name = await ctx.ask('step1', step1);
        return liking(name, await ctx.ask('step2', step2));
      },
      { store },
    ),

    askable: linear(async (_, ctx) => allAnswered(Object.keys(await ctx.ask(askable(ctx.canAsk)))), {
      store,
    }),

    prompt: linear(async (_, ctx) => promptIn(await ctx.ask('user_context', userContext)), { store }),
  };
}
