/** Guard-first: the author keeps the answers, and reads them with a schema. Effects stand below the guard. */
import {
  cancelledResult,
  inputRequired,
  isRefusal,
  readAnswer,
  readState,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import type { World } from '@mrtr/tools';
import { z } from 'zod';
import { type Code, isAsk, isEffect, place } from './code.ts';

export function guardFirst(code: Code, world: World) {
  const questions = code.steps.filter(isAsk);
  const State = z.object(Object.fromEntries(questions.map(({ key, schema }) => [key, schema.optional()])));
  return async (_input: unknown, ctx: ServerContext) => {
    const kept: Record<string, unknown> = readState(ctx, State) ?? {};
    for (const { key, question } of questions) {
      if (kept[key] !== undefined) continue;
      const answer = readAnswer(ctx, key, question);
      if (isRefusal(answer)) return cancelledResult(key);
      if (answer.kind !== 'accepted') {
        return inputRequired({
          inputRequests: { [key]: question.request },
          requestState: JSON.stringify(kept),
        });
      }
      kept[key] = answer.value;
    }
    const data = Object.fromEntries(questions.map(({ name, key }) => [name, kept[key]]));
    for (const { name, run } of code.steps.filter(isEffect)) data[name] = await run(world);
    return textResult(await place(code, data, world));
  };
}
