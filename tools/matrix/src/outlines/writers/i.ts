/** Any outline in shape I: a resolver for each question, which needs the resolvers of the round before. */

import type { CompleteResult } from '@mrtr/core/shape';
import { type Resolver, requestContext, resolve, resolveResource, resolver } from '@mrtr/shapes/resolve';
import { z } from 'zod';
import {
  type AuthorContext,
  type Data,
  endUnguarded,
  isAsk,
  type Outline,
  type Write,
  type WriteResource,
} from '../outline.ts';

export const write: Write = (outline) => resolve(z.object({}), resolversOf(outline), ending(outline));

/** A resource's handler gets the parts of its URI beside the answers. */
export const writeResource: WriteResource = (outline) =>
  resolveResource(resolversOf(outline), ({ uri: _, ...answers }, ctx) => ending(outline)(answers, ctx));

function resolversOf({ steps, above }: Outline) {
  const all: Resolver<unknown>[] = [];
  let before: readonly Resolver<unknown>[] = [];
  for (const { asks, ifAskable } of steps.filter(isAsk)) {
    const needs: object = Object.fromEntries(before.map((needed) => [`after ${needed.name}`, needed]));
    before = Object.entries(asks).map(([key, question]) =>
      resolver(key, { ...needs, ctx: requestContext() }, ({ ctx }) => {
        above?.(ctx);
        return ifAskable && !ctx.canAsk(question.kind) ? undefined : question;
      }),
    );
    all.push(...before);
  }
  return Object.fromEntries(all.map((one) => [one.name, one]));
}

const ending =
  <R extends CompleteResult>(outline: Outline<R>) =>
  (answers: Data, ctx: AuthorContext) => {
    const given = Object.entries(answers).filter(([, answer]) => answer !== undefined);
    return endUnguarded(outline, Object.fromEntries(given), ctx);
  };
