/** The tool without the protocol: the words of its approval, and its results. */

import { describeItem, type ResolutionKind, type WorkItem, type World } from '@mrtr/comparison';
import {
  type Approval,
  type McpServer,
  type Question,
  type RequestStatePolicy,
  type ServerContext,
  textResult,
  type Words,
  words,
} from '@mrtr/core';

/** Makes the question for a yes to `words`, on a page or in a form. `id` is the item's id. */
export type AskYes = (
  ctx: ServerContext,
  words: Words,
  id: number,
) => Question<Approval> | Promise<Question<Approval>>;

export type CreateServer = (policy: RequestStatePolicy, askYes: AskYes, world: World) => McpServer;

/** The words of the approval, with the values to write. */
export function changeOf(id: number, resolution?: ResolutionKind, original?: number) {
  if (resolution === undefined) return words`Reopen work item ${id}?`;
  if (original === undefined) return words`Resolve work item ${id} as ${resolution}?`;
  return words`Resolve work item ${id} as a duplicate of ${original}?`;
}

export const resultOf = (item: WorkItem, { receipt }: Approval) =>
  textResult(`${describeItem(item)} A yes counted, assurance '${receipt.assurance}'.`);
