/** The two questions that no user sees: one asks the client's model, the other asks for its file system roots. */

import type {
  CreateMessageRequest,
  CreateMessageResult,
  CreateMessageResultWithTools,
  InputRequest,
  ListRootsResult,
} from '@modelcontextprotocol/server';
import { inputRequired, isSpecType } from '@modelcontextprotocol/server';
import { type InputKind, usesTools } from '../wire/input-kind.ts';
import type { Answer } from './answer.ts';
import { type ElicitationOptions, requireElicitationOptions } from './elicitation.ts';
import { type Question, question } from './question.ts';

type Params = CreateMessageRequest['params'];

/**
 * Asks the client's model (`sampling/createMessage`). With `tools` in `params`, the model may answer with tool uses and
 * with several contents. The specification deprecates it since 2026-07-28; clients that declare `sampling` still answer
 * it.
 *
 * @example const summary = sampling({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 200 });
 */
export function sampling(
  params: Params & { readonly tools: NonNullable<Params['tools']> },
  options?: ElicitationOptions<CreateMessageResultWithTools>,
): Question<CreateMessageResultWithTools>;
export function sampling(
  params: Params,
  options?: ElicitationOptions<CreateMessageResult>,
): Question<CreateMessageResult>;
export function sampling(params: Params, options: ElicitationOptions<unknown> = {}): unknown {
  const fits = params.tools ? isSpecType.CreateMessageResultWithTools : isSpecType.CreateMessageResult;
  return questionOf(
    usesTools(params) ? 'sampling.tools' : 'sampling',
    inputRequired.createMessage(params),
    fits,
    options,
  );
}

/**
 * Asks for the client's roots (`roots/list`). Deprecated like {@link sampling}.
 *
 * @example return ask({ roots: listRoots() });
 */
export const listRoots = (options: ElicitationOptions<ListRootsResult> = {}): Question<ListRootsResult> =>
  questionOf('roots', inputRequired.listRoots(), isSpecType.ListRootsResult, options);

function questionOf<T>(
  kind: InputKind,
  request: InputRequest,
  fits: (response: unknown) => boolean,
  options: ElicitationOptions<T>,
): Question<T> {
  requireElicitationOptions(request.method, options);
  const read = (response: unknown): Answer<T> => {
    if (response === undefined) return { kind: 'missing' };
    if (fits(response)) return { kind: 'accepted', value: response as T };
    return { kind: 'invalid', issues: [{ message: `This is not a result of ${request.method}.` }] };
  };
  const parts = { kind, message: request.method, request, read, keep: (response: unknown) => response };
  return question<T, object>(parts, options.fallback);
}
