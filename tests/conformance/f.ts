/** Shape F: guard-first, where the library remembers the answers of earlier rounds. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { ask, cancelledResult, isRefusal } from '@mrtr/core';
import { once } from '@mrtr/shapes/once';
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
export const onceFixture: Fixture = {
  greet: once(async (_, ctx) => {
    const answer = ctx.answer('user_name', userName);
    if (isRefusal(answer)) return cancelledResult('user_name');
    return answer.kind === 'accepted' ? hello(answer.value) : ask({ user_name: userName });
  }),

  capital: once(async (_, ctx) => {
    const answer = ctx.answer('capital_question', capitalQuestion);
    return answer.kind === 'accepted'
      ? saidByModel(answer.value)
      : ask({ capital_question: capitalQuestion });
  }),

  roots: once(async (_, ctx) => {
    const answer = ctx.answer('client_roots', clientRoots);
    return answer.kind === 'accepted' ? rootsFound(answer.value) : ask({ client_roots: clientRoots });
  }),

  confirm: once(async (_, ctx) => {
    const answer = ctx.answer('confirm', confirm);
    if (isRefusal(answer)) return cancelledResult('confirm');
    return answer.kind === 'accepted' ? stateOk(answer.value) : ask({ confirm });
  }),

  introduce: once(async (_, ctx) => {
    const name = ctx.answer('user_name', userName);
    const greeted = ctx.answer('greeting', greeting);
    const roots = ctx.answer('client_roots', clientRoots);
    if (isRefusal(name)) return cancelledResult('client_roots');
    if (name.kind !== 'accepted' || greeted.kind !== 'accepted' || roots.kind !== 'accepted') {
      return ask({ user_name: userName, greeting, client_roots: clientRoots });
    }
    return introduced(name.value, greeted.value, roots.value);
  }),

  twoSteps: once(async (_, ctx) => {
    const first = ctx.answer('step1', step1);
    if (isRefusal(first)) return cancelledResult('step1');
    if (first.kind !== 'accepted') return ask({ step1 });

    const second = ctx.answer('step2', step2);
    if (isRefusal(second)) return cancelledResult('step2');
    return second.kind === 'accepted' ? liking(first.value, second.value) : ask({ step2 });
  }),

  askable: once(async (_, ctx) => {
    const questions = askable(ctx.canAsk);
    const asked = Object.entries(questions);
    const isDone = asked.every(([key, question]) => ctx.answer(key, question).kind === 'accepted');
    return isDone ? allAnswered(Object.keys(questions)) : ask(questions);
  }),

  prompt: once(async (_, ctx) => {
    const answer = ctx.answer('user_context', userContext);
    if (isRefusal(answer)) throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Cancelled.');
    return answer.kind === 'accepted' ? promptIn(answer.value) : ask({ user_context: userContext });
  }),
};
