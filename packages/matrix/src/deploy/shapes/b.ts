/** `await elicit()` on re-entry. What stands above a question runs again in each round, so all effects stand below. */
import { textResult } from '@mrtr/core';
import type { World } from '@mrtr/example-tools';
import { awaitShim } from '@mrtr/shapes/await-shim';
import { type Code, isAsk, isEffect, place } from '../code/code.ts';

export const writeB = (code: Code, world: World) =>
  awaitShim(async (_input: unknown, ctx) => {
    const data: Record<string, unknown> = {};
    for (const { name, schema, question } of code.steps.filter(isAsk)) {
      data[name] = await ctx.elicit(question.message, schema as never);
    }
    for (const { name, run } of code.steps.filter(isEffect)) data[name] = await run(world);
    return textResult(await place(code, data, world));
  });
