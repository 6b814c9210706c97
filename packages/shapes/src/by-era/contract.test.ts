import { ask, askLive, isRefusal, type Question, readAnswer } from '@mrtr/core';
import { type Shape, shapeContract } from '../contract.test-support.ts';
import { byEra } from './by-era.ts';

const shape: Shape = {
  name: 'by-era',
  write: ({ rounds, above, below, refused }) =>
    byEra({
      modern(_input, ctx) {
        above();
        const answers = JSON.parse(ctx.mcpReq.requestState<string>() ?? '{}');
        for (const questions of rounds) {
          const open: [string, Question][] = [];
          for (const [key, question] of Object.entries(questions)) {
            if (Object.hasOwn(answers, key)) continue;
            const answer = readAnswer(ctx, key, question);
            if (isRefusal(answer)) return refused();
            if (answer.kind === 'accepted') answers[key] = answer.value;
            else open.push([key, question]);
          }
          if (open.length > 0) return ask(Object.fromEntries(open), { state: answers });
        }
        return below(answers);
      },
      async legacy(_input, ctx) {
        above();
        const answers: [string, unknown][] = [];
        for (const [key, question] of rounds.flatMap((questions) => Object.entries(questions))) {
          const answer = await askLive(ctx, key, question);
          if (isRefusal(answer)) return refused();
          answers.push([key, answer.value]);
        }
        return below(Object.fromEntries(answers));
      },
    }),
};

const OWN_CONTEXT = 'its handlers get the context of the SDK';

shapeContract(shape, {
  'a client that cannot be asked is refused before any effect, in each era and in each round':
    'nobody knows its questions before it asks them',
  'state of another shape, or of another version, is refused, and nothing runs':
    'its author keeps the answers',
  'an old client that the policy does not ask gets an error that says why':
    'its author asks and decides alone',
  'a refusal ends a prompt and a resource with a JSON-RPC error':
    'its author reads the refusal and ends the call',
  'idempotency keys are the same in all rounds of a call, wherever and however often one is presented':
    OWN_CONTEXT,
  'the context says who can be asked and who sent each round, without the token, and reports progress':
    OWN_CONTEXT,
});
