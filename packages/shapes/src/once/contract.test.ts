import { ask, isRefusal, type Question } from '@mrtr/core';
import { type Shape, shapeContract } from '../contract.test-support.ts';
import { onceContract } from '../once-contract.test-support.ts';
import { once } from './once.ts';

const shape: Shape = {
  name: 'once',
  write: ({ rounds, asks, above, below, refused }) =>
    once(
      async (_input, ctx) => {
        await above(ctx);
        const answers: [string, unknown][] = [];
        for (const questions of rounds) {
          const open: [string, Question][] = [];
          for (const [key, question] of Object.entries(questions)) {
            const answer = ctx.answer(key, question);
            if (isRefusal(answer)) return refused();
            if (answer.kind === 'accepted') answers.push([key, answer.value]);
            else open.push([key, question]);
          }
          if (open.length > 0) return ask(Object.fromEntries(open));
        }
        return below(Object.fromEntries(answers), ctx);
      },
      { asks },
    ),
};

shapeContract(shape, {
  'a refusal ends a prompt and a resource with a JSON-RPC error':
    'its author reads the refusal and ends the call',
});
onceContract(shape, { records: true });
