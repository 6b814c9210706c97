/** `resolve`: a resolver for each question. Each needs the one before, so they are asked one after the other. */
import { textResult } from '@mrtr/core';
import type { World } from '@mrtr/example-tools';
import { type Resolver, resolve, resolver } from '@mrtr/shapes/resolve';
import { z } from 'zod';
import { type Code, type Data, isAsk, isEffect, place } from '../code/code.ts';

export function writeI(code: Code, world: World) {
  const questions = code.steps.filter(isAsk);
  const params: Record<string, Resolver<unknown>> = {};
  let before: Record<string, Resolver<unknown>> = {};
  for (const { name, key, question } of questions) {
    const one: Resolver<unknown> = resolver(key, before, () => question);
    params[name] = one;
    before = { before: one };
  }
  return resolve(z.object({}), params, async (answers) => {
    const data: Record<string, unknown> = { ...(answers as Data) };
    for (const { name, run } of code.steps.filter(isEffect)) data[name] = await run(world);
    return textResult(await place(code, data, world));
  });
}
