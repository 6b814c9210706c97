/** Any script in shape I: a resolver for each question, which needs the resolvers of the round before. */

import { type Resolver, requestContext, resolve, resolver } from '@mrtr/shapes/resolve';
import { z } from 'zod';
import { endUnguarded, isAsk, type Write } from '../script.ts';

export const write: Write = (script) => {
  const all: Record<string, Resolver<unknown>> = {};
  let before: Readonly<Record<string, Resolver<unknown>>> = {};
  for (const { asks, ifAskable } of script.steps.filter(isAsk)) {
    const needs = Object.fromEntries(Object.entries(before).map(([key, one]) => [`after ${key}`, one]));
    before = Object.fromEntries(
      Object.entries(asks).map(([key, question]) => [
        key,
        resolver(key, { ...needs, ctx: requestContext() }, ({ ctx }) =>
          ifAskable && !ctx.canAsk(question.kind) ? undefined : question,
        ),
      ]),
    );
    Object.assign(all, before);
  }
  return resolve(z.object({}), all, (answers) => {
    const given = Object.entries(answers).filter(([, answer]) => answer !== undefined);
    return endUnguarded(script, Object.fromEntries(given));
  });
};
