import { z } from 'zod';
import { type Shape, type ShapeScript, shapeContract } from '../contract.test-support.ts';
import { type Resolver, requestContext, resolve, resolveResource, resolver } from './index.ts';

/** A resolver for each question, which needs those of the round before. */
function resolvers({ rounds, above }: ShapeScript<unknown>) {
  const all: Resolver<unknown>[] = [];
  let before: Resolver<unknown>[] = [];
  for (const questions of rounds) {
    const needs: object = Object.fromEntries(before.map((needed, at) => [`need ${at}`, needed]));
    before = Object.entries(questions).map(([key, question]) =>
      resolver(key, { ...needs, ctx: requestContext() }, ({ ctx }) => {
        above(ctx);
        return question;
      }),
    );
    all.push(...before);
  }
  return Object.fromEntries(all.map((one) => [one.name, one]));
}

const shape: Shape = {
  name: 'resolve',
  effectsBelow: true,
  write: (script) => resolve(z.object({}), resolvers(script), (answers, ctx) => script.below(answers, ctx)),
  writeResource: (script) =>
    resolveResource(resolvers(script), ({ uri: _, ...answers }, ctx) => script.below(answers, ctx)),
};

shapeContract(shape, {
  'a refusal ends the call politely, before anything below the question':
    'an error result ends it, where the consumer wants the plain value',
});
