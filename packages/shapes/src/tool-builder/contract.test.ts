import { type Shape, shapeContract } from '../contract.test-support.ts';
import { ToolBuilder } from './tool-builder.ts';

const shape: Shape = {
  name: 'tool-builder',
  effectsBelow: true,
  write({ rounds, above, below }) {
    let tool = new ToolBuilder<object, Record<string, unknown>>();
    for (const [at, questions] of rounds.entries()) {
      const [[key, question] = [], ...more] = Object.entries(questions);
      const step = more.length > 0 ? `round ${at + 1}` : (key ?? '');
      tool = tool.incompleteStep(step as never, (_input, _data, ctx) => {
        above(ctx);
        return more.length > 0 ? questions : question;
      });
    }
    return tool
      .endStep((_input, data, ctx) => {
        const answers = rounds.flatMap((questions, at) =>
          Object.keys(questions).length > 1
            ? Object.entries(data[`round ${at + 1}`] as object)
            : Object.keys(questions).map((key) => [key, data[key]]),
        );
        return below(Object.fromEntries(answers), ctx);
      })
      .build();
  },
};

shapeContract(shape);
