import { type Shape, shapeContract } from '../contract.test-support.ts';
import { onceContract } from '../once-contract.test-support.ts';
import { journal } from './journal.ts';

const shape: Shape = {
  name: 'journal',
  write: ({ rounds, asks, above, below }) =>
    journal(
      async (_input, ctx) => {
        await above(ctx);
        const answers: [string, unknown][] = [];
        for (const questions of rounds) answers.push(...Object.entries(await ctx.ask(questions)));
        return below(Object.fromEntries(answers), ctx);
      },
      { asks },
    ),
};

shapeContract(shape);
onceContract(shape, { records: true });
