/** Tools and clients for the tests of shape J. */
import { textResult } from '@mrtr/core';
import type { CompleteResult } from '@mrtr/core/shape';
import {
  type Caller,
  name,
  type Register,
  type RoundSummary,
  TestDeployment,
  tool,
  units,
} from '../fixture.test-support.ts';
import { type JournalContext, type JournalOptions, journal } from './index.ts';

export const askUnits = (ctx: JournalContext) => ctx.ask('units', units);
export const askName = (ctx: JournalContext) => ctx.ask('name', name);

export type Handler = (ctx: JournalContext) => unknown;

/** A tool that returns the value of `handler` as JSON text. */
export const journaling = (handler: Handler, options: JournalOptions = {}): Register =>
  tool(
    journal<unknown, CompleteResult>(
      async (_args, ctx) => textResult(JSON.stringify(await handler(ctx)) ?? 'nothing'),
      options,
    ),
  );

/** A client of a site that serves `handler`. */
export const connectTo = (handler: Handler, options: JournalOptions = {}): Promise<Caller> =>
  new TestDeployment(journaling(handler, options)).connect();

/** Answers one round after the other, and returns the outcome of the last. */
export async function answerAll(
  client: Caller,
  ...rounds: readonly Readonly<Record<string, unknown>>[]
): Promise<RoundSummary> {
  let seen = await client.send();
  for (const responses of rounds) seen = await client.answer(seen, responses);
  return seen;
}
