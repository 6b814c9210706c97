/** A prompt and a resource that ask, in four shapes. A refusal ends them with a JSON-RPC error: their results have no room for it. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { ask, isRefusal } from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { type ContinuationStore, linear } from '@mrtr/shapes/linear';
import { once } from '@mrtr/shapes/once';
import { resolve, resolveResource, resolver } from '@mrtr/shapes/resolve';
import { queryFigures, report, whichCurrency } from './quarterly-report.ts';
import { draft, type ReleaseArguments, releaseNotes, whichAudience } from './release-notes.ts';

/**
 * F: each round enters them, and they return their question until its answer is there. `once` runs the query above the
 * question in one round only.
 */
export const f = () => ({
  prompt: once(async ({ version }: ReleaseArguments, ctx) => {
    const answer = ctx.answer('audience', whichAudience);
    if (isRefusal(answer))
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Nobody said who will read them.');
    if (answer.kind !== 'accepted') return ask({ audience: whichAudience });
    return draft(version, answer.value);
  }),

  resource: once(async (uri: URL, ctx) => {
    // The figures at the time of opening the report. They travel to the second round in requestState.
    const figures = await ctx.once('figures', queryFigures);

    const answer = ctx.answer('currency', whichCurrency);
    if (isRefusal(answer))
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Nobody said in which currency.');
    if (answer.kind !== 'accepted') return ask({ currency: whichCurrency });
    return report(uri, figures, answer.value);
  }),
});

/**
 * H: each is entered once. While the user thinks, it waits at its `await`, in the memory of this instance, kept by a store
 * that outlives the servers. If the user refuses, that `await` throws.
 */
export const h = (store: ContinuationStore) => ({
  prompt: linear(
    async ({ version }: ReleaseArguments, ctx) => draft(version, await ctx.ask('audience', whichAudience)),
    { store },
  ),

  resource: linear(
    async (uri: URL, ctx) => {
      // The figures at the time of opening the report: a local variable that waits with the handler.
      const figures = await queryFigures();
      return report(uri, figures, await ctx.ask('currency', whichCurrency));
    },
    { store },
  ),
});

// Written once, for any number of prompts, resources and tools.
const audience = resolver('audience', {}, () => whichAudience);
const currency = resolver('currency', {}, () => whichCurrency);

/**
 * I: they declare the answers they need. A resolver fills each parameter, with a value or with the answer to a question, and
 * the body is entered once, when all of them are filled. It takes the plain value, so a refusal ends the call before it.
 */
export const i = () => ({
  prompt: resolve(releaseNotes.argsSchema, { audience }, ({ version, audience }) => draft(version, audience)),

  // The figures at the time of the answer: the body does not run before.
  resource: resolveResource({ currency }, async ({ uri, currency }) =>
    report(uri, await queryFigures(), currency),
  ),
});

/**
 * J: written as in H, but each round enters them from the top, as in F. A finished step returns its record in the journal, so
 * any instance can resume the call. If the user refuses, the `await` throws.
 */
export const j = () => ({
  prompt: journal(async ({ version }: ReleaseArguments, ctx) =>
    draft(version, await ctx.ask('audience', whichAudience)),
  ),

  resource: journal(async (uri: URL, ctx) => {
    // The figures at the time of opening the report. The journal carries them to the second round.
    const figures = await ctx.once('figures', queryFigures);
    return report(uri, figures, await ctx.ask('currency', whichCurrency));
  }),
});
