/** Makes the result that asks questions. */
import { type InputRequiredResult, inputRequired, type Questions } from '@mrtr/core';
import { isQuestion } from '@mrtr/core/shape';
import { notAQuestion } from './definition.ts';

/**
 * An `input_required` result for `questions`.
 *
 * @throws InvalidDefinition naming the value that is not a question.
 */
export function asking(questions: Questions): InputRequiredResult {
  const requests = Object.entries(questions).map(([key, question]) => {
    if (!isQuestion(question)) throw notAQuestion(key);
    return [key, question.request] as const;
  });
  return inputRequired({ inputRequests: Object.fromEntries(requests) });
}
