/**
 * Shape E: guard-first, on the SDK and `@mrtr/core` alone. An answer that a later round needs travels in its own state.
 */
import { inputRequired, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import {
  ask,
  canAsk,
  cancelledResult,
  isRefusal,
  type Question,
  readAnswer,
  type ServerContext,
} from '@mrtr/core';
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
export const guardFirst: Fixture = {
  async greet(_, ctx) {
    const answer = readAnswer(ctx, 'user_name', userName);
    if (isRefusal(answer)) return cancelledResult('user_name');
    if (answer.kind !== 'accepted') return ask({ user_name: userName });
    return hello(answer.value);
  },

  async capital(_, ctx) {
    const answer = readAnswer(ctx, 'capital_question', capitalQuestion);
    if (answer.kind !== 'accepted') {
      return ask({ capital_question: capitalQuestion });
    }
    return saidByModel(answer.value);
  },

  async roots(_, ctx) {
    const answer = readAnswer(ctx, 'client_roots', clientRoots);
    if (answer.kind !== 'accepted') {
      return ask({ client_roots: clientRoots });
    }
    return rootsFound(answer.value);
  },

  async confirm(_, ctx) {
    const answer = readAnswer(ctx, 'confirm', confirm);
    if (isRefusal(answer)) return cancelledResult('confirm');
    if (answer.kind !== 'accepted') return ask({ confirm });
    return stateOk(answer.value);
  },

  async introduce(_, ctx) {
    const name = readAnswer(ctx, 'user_name', userName);
    const greeted = readAnswer(ctx, 'greeting', greeting);
    const roots = readAnswer(ctx, 'client_roots', clientRoots);
    if (isRefusal(name)) return cancelledResult('client_roots');
    if (name.kind !== 'accepted' || greeted.kind !== 'accepted' || roots.kind !== 'accepted') {
      return inputRequired({
        inputRequests: {
          user_name: userName.request,
          greeting: greeting.request,
          client_roots: clientRoots.request,
        },
      });
    }
    return introduced(name.value, greeted.value, roots.value);
  },

  async twoSteps(_, ctx) {
    const first = rememberedName(ctx) ?? readAnswer(ctx, 'step1', step1);
    if (isRefusal(first)) return cancelledResult('step1');
    if (first.kind !== 'accepted') return ask({ step1 });
    const second = readAnswer(ctx, 'step2', step2);
    if (isRefusal(second)) return cancelledResult('step2');
    if (second.kind !== 'accepted') {
      // The next round brings only the second answer, so the state carries the first.
      return ask({ step2 }, { state: first.value });
    }
    return liking(first.value, second.value);
  },

  async askable(_, ctx) {
    const questions = Object.entries(askable((kind) => canAsk(ctx, kind)));
    const isOpen = ([key, question]: [string, Question]) =>
      readAnswer(ctx, key, question).kind !== 'accepted';
    if (!questions.some(isOpen)) return allAnswered(questions.map(([key]) => key));
    return inputRequired({
      inputRequests: Object.fromEntries(questions.map(([key, { request }]) => [key, request])),
    });
  },

  async prompt(_, ctx) {
    const answer = readAnswer(ctx, 'user_context', userContext);
    if (isRefusal(answer)) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Cancelled.');
    if (answer.kind !== 'accepted') {
      return ask({ user_context: userContext });
    }
    return promptIn(answer.value);
  },
};

function rememberedName(ctx: ServerContext) {
  const state = ctx.mcpReq.requestState<string>();
  if (state === undefined) return undefined;
  return { kind: 'accepted', value: step1.schema.parse(JSON.parse(state)) } as const;
}
