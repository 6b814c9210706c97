/**
 * Guard-first: the author keeps the answers, and reads them with a schema. Effects stand below the guard. A and E are
 * written so; C and D, too, and differ in how they ask old clients.
 */
import {
  type Answer,
  ask,
  askLive,
  cancelledResult,
  type Elicitation,
  isRefusal,
  readAnswer,
  readState,
  type ServerContext,
  speaksMrtr,
  textResult,
} from '@mrtr/core';
import type { World } from '@mrtr/example-tools';
import { byEra } from '@mrtr/shapes/by-era';
import { z } from 'zod';
import { type Code, isAsk, isEffect, place } from '../code/code.ts';

/** Reads the answer to a question, or waits for it. */
type Read = (
  ctx: ServerContext,
  key: string,
  question: Elicitation,
) => Answer<unknown> | Promise<Answer<unknown>>;

export function guardFirst(code: Code, world: World, read: Read = readAnswer) {
  const questions = code.steps.filter(isAsk);
  const State = z.object(Object.fromEntries(questions.map(({ key, schema }) => [key, schema.optional()])));
  return async (_input: unknown, ctx: ServerContext) => {
    const kept: Record<string, unknown> = readState(ctx, State) ?? {};
    for (const { key, question } of questions) {
      if (kept[key] !== undefined) continue;
      const answer = await read(ctx, key, question);
      if (isRefusal(answer)) return cancelledResult(key);
      if (answer.kind !== 'accepted') {
        return ask({ [key]: question }, { state: kept });
      }
      kept[key] = answer.value;
    }
    const data = Object.fromEntries(questions.map(({ name, key }) => [name, kept[key]]));
    for (const { name, run } of code.steps.filter(isEffect)) data[name] = await run(world);
    return textResult(await place(code, data, world));
  };
}

/** C: one handler, which branches where it asks. */
export const branching = (code: Code, world: World) =>
  guardFirst(code, world, (ctx, ...asked) =>
    speaksMrtr(ctx) ? readAnswer(ctx, ...asked) : askLive(ctx, ...asked),
  );

/** D: two handlers. */
export const byRevision = (code: Code, world: World) =>
  byEra({ modern: guardFirst(code, world), legacy: guardFirst(code, world, askLive) as never });
