/** What an author tells a shape that cannot know its handler's questions in advance. */
import type { InputKind } from '@mrtr/core';
import { INPUT_KINDS, listOf, type OptionChecks } from '@mrtr/core/kit';

/** The option of the shapes whose handler may have an effect before it asks. */
export interface AskingOptions {
  /**
   * The kinds of input without which the handler cannot finish, named as `canAsk` names them: `['elicitation']` for
   * forms, `['elicitation.url']` for pages. In each round, a client that cannot be asked for all of them is refused
   * before the handler is entered. Leave out the kinds whose questions have a `fallback`. Without this option, such a
   * call ends at its question: `onerror` then gets the keys of the `ctx.once` effects that had run.
   */
  readonly asks?: readonly InputKind[] | undefined;
}

export const ASKING_CHECKS: OptionChecks<AskingOptions> = {
  asks: listOf(`'${INPUT_KINDS.join("', '")}'`, (kind) => INPUT_KINDS.includes(kind as InputKind)),
};
