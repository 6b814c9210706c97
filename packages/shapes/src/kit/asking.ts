/** The `asks` option: the kinds of input that a handler needs before it starts. */
import type { InputKind } from '@mrtr/core';
import { INPUT_KINDS, listOf, type OptionChecks } from '@mrtr/core/internal';

/** For shapes whose handler may have an effect before it asks. */
export interface AskingOptions {
  /**
   * The kinds of input without which the handler cannot finish, named as `canAsk` names them: `['elicitation']` for
   * forms, `['elicitation.url']` for pages. A client that cannot be asked for all of them is rejected before the handler
   * is entered, in each round. Leave out kinds whose questions have a `fallback`. Without this option, the call ends at
   * its question, and `onerror` gets the keys of the `ctx.once` effects that have run.
   */
  readonly asks?: readonly InputKind[] | undefined;
}

/** @internal */
export const ASKING_CHECKS: OptionChecks<AskingOptions> = {
  asks: listOf(`'${INPUT_KINDS.join("', '")}'`, (kind) => INPUT_KINDS.includes(kind as InputKind)),
};
