/** Makes the result that asks questions. */
import { type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server';
import { InvalidDefinition, NotJson } from '../errors.ts';
import { anyValue, requireOptions } from '../options.ts';
import { isQuestion, type Questions } from '../questions/question.ts';

/** The options of {@link ask}. */
export interface AskOptions {
  /**
   * A JSON value for the next round, which reads it with `readState`. Sealed, it has at most the policy's `limits.stateBytes`.
   */
  readonly state?: unknown;
}

/**
 * Makes a result that asks the client's user `questions`. Return it; the handler runs again with the answers.
 *
 * @param questions the questions of one round, by key. Read each answer under its key, with `readAnswer`.
 * @throws InvalidDefinition for a value that is not a question, a question without a key or under the key `__proto__`,
 * and no question at all.
 * @throws NotJson for state that JSON cannot hold.
 * @throws InvalidOption for an unknown option.
 * @example
 * const units = elicitation('Which units?', z.object({ units: z.enum(['metric', 'imperial']) }));
 * const answer = readAnswer(ctx, 'units', units);
 * if (answer.kind !== 'accepted') return ask({ units });
 * @see MCP 2026-07-28, basic/patterns/mrtr (SEP-2322)
 */
export function ask(questions: Questions, options: AskOptions = {}): InputRequiredResult {
  requireOptions('ask', options, { state: anyValue });
  requireKeys(questions);
  const requests = Object.entries(questions).map(([key, question]) => {
    if (!isQuestion(question)) throw notAQuestionError(key);
    return [key, question.request] as const;
  });
  if (requests.length === 0) throw new InvalidDefinition('ask: give at least one question.');
  const requestState = options.state === undefined ? undefined : serialize(options.state);
  return inputRequired({
    inputRequests: Object.fromEntries(requests),
    ...(requestState !== undefined && { requestState }),
  });
}

/** @throws InvalidDefinition for a bare question: write `{ key: question }`. And for the key `__proto__`. */
export function requireKeys(questions: Questions) {
  if (isQuestion(questions))
    throw new InvalidDefinition(
      "Give the question a key: return ask({ units }), or ctx.ask('units', units).",
    );
  // The SDKs' parsers drop an answer of this name.
  if (Object.hasOwn(questions, '__proto__'))
    throw new InvalidDefinition(
      "A question cannot have the key '__proto__': its answer would never arrive. Give it another key.",
    );
}

/** The error for a value that is not a question. */
export const notAQuestionError = (key: string): InvalidDefinition =>
  new InvalidDefinition(
    `'${key}' is not a question. Make one with elicitation(...), sampling(...) or listRoots().`,
  );

function serialize(state: unknown) {
  try {
    const text = JSON.stringify(state);
    if (text !== undefined) return text;
  } catch {}
  throw new NotJson(
    'ask: `state` is not JSON. Keep texts, numbers, booleans, lists and plain objects in it.',
  );
}
