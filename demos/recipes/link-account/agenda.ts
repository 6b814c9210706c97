/** The tool, which needs its user's calendar, in three shapes. */
import { textResult } from '@mrtr/core';
import type { PendingInteractions } from '@mrtr/pages';
import { journal } from '@mrtr/shapes/journal';
import { type ContinuationStore, linear } from '@mrtr/shapes/linear';
import { ToolBuilder } from '@mrtr/shapes/tool-builder';
import { z } from 'zod';

export const AGENDA = {
  description: "Says what is in the user's calendar today.",
  inputSchema: z.object({}),
};

/** The text before the user agrees to open the page. */
export const LINK = 'Link your calendar, so that your agenda can be read.';

/** The outcome of the page: the account that the user linked. */
export interface Linked {
  readonly account: string;
}

export interface Calendars {
  readonly link: PendingInteractions<Linked>;
  eventsOf(account: string): Promise<string>;
}

/** G: the page is a step whose data is its outcome, and the end step runs once. */
export const toolBuilder = ({ link, eventsOf }: Calendars) =>
  new ToolBuilder<object>()
    .incompleteStep('link', (_input, _data, ctx) => link.question(ctx.request, LINK))
    .endStep(async (_input, { link: { account } }) => textResult(await eventsOf(account)))
    .build();

/** H: the handler waits for the page. `store` holds the handlers that wait. */
export const waiting = ({ link, eventsOf }: Calendars, store: ContinuationStore) =>
  linear(
    async (_input: object, ctx) => {
      const { account } = await link.ask(ctx, 'link', LINK);
      return textResult(await eventsOf(account));
    },
    { store },
  );

/** J: the page is an ordinary question. Code below it runs when the user has finished there. */
export const journalTool = ({ link, eventsOf }: Calendars) =>
  journal(async (_input: object, ctx) => {
    const { account } = await ctx.ask('link', await link.question(ctx.request, LINK));
    return textResult(await ctx.once('events', () => eventsOf(account)));
  });
