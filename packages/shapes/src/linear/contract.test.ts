import { afterAll } from 'vitest';
import { type Shape, shapeContract } from '../contract.test-support.ts';
import { onceContract } from '../once-contract.test-support.ts';
import { ContinuationStore } from './continuation-store.ts';
import { linear } from './linear.ts';

const store = new ContinuationStore();
afterAll(() => store.close());

const shape: Shape = {
  name: 'linear',
  write: ({ rounds, asks, above, below }) =>
    linear(
      async (_input, ctx) => {
        await above(ctx);
        const answers: [string, unknown][] = [];
        for (const questions of rounds) answers.push(...Object.entries(await ctx.ask(questions)));
        return below(Object.fromEntries(answers), ctx);
      },
      { store, asks },
    ),
};

shapeContract(shape, {
  'a question that is reworded while it is out is asked again':
    'the parked handler keeps the question that it asked',
  'a round that is sent twice is served twice, with the same result':
    'the first one takes the handler, and the second is refused',
});
onceContract(shape, { records: false });
