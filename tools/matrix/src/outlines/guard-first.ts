/** Writes outlines guard-first, for A, C, D and E: the author keeps the answers, and reads them with a schema. */
import {
  type Answer,
  ask,
  canAsk,
  isRefusal,
  type Question,
  readAnswer,
  readState,
  type ServerContext,
} from '@mrtr/core';
import type { CompleteResult, SdkCallback } from '@mrtr/core/shape';
import { z } from 'zod';
import { endUnguarded, isAsk, type Outline, questionsOf, type Write } from './outline.ts';

/** Reads the answer to a question, or waits for it. */
type Read = (
  ctx: ServerContext,
  key: string,
  question: Question,
) => Answer<unknown> | Promise<Answer<unknown>>;

/** Writes an outline guard-first. */
export const writeGuardFirst: Write = (outline) => writeReading(outline, readAnswer);

/** C and D ask old clients in their own way, with their own `read`. */
export function writeReading<R extends CompleteResult>(outline: Outline<R>, read: Read) {
  const rounds = outline.steps.filter(isAsk);
  const questions = rounds.flatMap(({ asks }) => Object.entries(asks));
  const State = z.preprocess(
    // Zod also reads inherited members, and a key may be `constructor`.
    (kept) => ({ __proto__: null, ...(kept as object) }),
    z.object(Object.fromEntries(questions.map(([key, question]) => [key, schemaOf(question)]))),
  );
  const handler = async (_input: object, ctx: ServerContext) => {
    outline.above?.();
    const kept: Record<string, unknown> = readState(ctx, State) ?? {};
    for (const round of rounds) {
      const open: [string, Question][] = [];
      for (const [key, question] of questionsOf(round, (kind) => canAsk(ctx, kind))) {
        if (Object.hasOwn(kept, key)) continue;
        const answer = await read(ctx, key, question);
        if (isRefusal(answer)) return outline.refused(key);
        if (answer.kind === 'accepted') kept[key] = answer.value;
        else open.push([key, question]);
      }
      if (open.length > 0) return ask(Object.fromEntries(open), { state: kept });
    }
    return endUnguarded(outline, kept);
  };
  return handler as SdkCallback<Record<string, never>, R>;
}

/** The schema for a kept answer: the form's own. */
const schemaOf = (question: Question) =>
  'schema' in question && question.schema instanceof z.ZodType
    ? question.schema.optional()
    : z.unknown().optional();
