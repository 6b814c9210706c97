/** The two questions that are not for the user: to the client's model, and about the client's file system. */
import { inputRequired } from '@modelcontextprotocol/server';
import type { Answer } from './answer.ts';
import { type Question, questionDigest } from './question.ts';
import {
  type CreateMessageRequest,
  type CreateMessageResult,
  type InputRequest,
  isCreateMessageResult,
  isListRootsResult,
  type ListRootsResult,
} from './wire.ts';

/**
 * Asks the client's model (`sampling/createMessage`). Deprecated by the specification since 2026-07-28, and alive
 * for at least a year; a client that declares `sampling` answers it.
 */
export const sampling = (params: CreateMessageRequest['params']): Question<CreateMessageResult> =>
  question('sampling', inputRequired.createMessage(params), isCreateMessageResult);

/** Asks for the client's roots (`roots/list`). Deprecated in the same way as {@link sampling}. */
export const listRoots = (): Question<ListRootsResult> =>
  question('roots', inputRequired.listRoots(), isListRootsResult);

function question<T>(
  kind: Question['kind'],
  request: InputRequest,
  fits: (response: unknown) => response is T,
): Question<T> {
  const read = (response: unknown): Answer<T> => {
    if (response === undefined) return { kind: 'missing' };
    if (fits(response)) return { kind: 'accepted', value: response };
    return { kind: 'invalid', issues: [{ message: `This is no result of ${request.method}.` }] };
  };
  return {
    kind,
    message: request.method,
    request,
    digest: questionDigest(request),
    read,
    keep: (response) => response,
  };
}
