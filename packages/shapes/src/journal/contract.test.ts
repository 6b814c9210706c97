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

shapeContract(shape, {
  'a question that is reworded after it was answered is asked again':
    'the call ends with JournalDiverged: the answer may have decided what has happened since',
});
onceContract(shape, { records: true });
