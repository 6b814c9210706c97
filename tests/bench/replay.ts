/** Reaches question 21 after 20 answers: J's replay against twenty hand-written guards. Only callbacks, no protocol. */
import { acceptedContent, inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import { elicitation, textResult } from '@mrtr/core';
import { journal } from '@mrtr/shapes/journal';
import { z } from 'zod';
import { again, type Pace, race, withTwin } from './race.ts';
import { noiseOf, type Spread } from './statistics.ts';
import { contextOf, type Round } from './subject/context.ts';

const STEPS = 20;
const Answer = z.object({ units: z.enum(['metric', 'imperial']) });
const keys = Array.from({ length: STEPS + 1 }, (_, at) => `q${at}`);
const questions = keys.map((key) => elicitation(`Question ${key}?`, Answer));
const response = { action: 'accept', content: { units: 'metric' } } as const;

const journaled = journal(async (_args: object, ctx) => {
  for (const [at, key] of keys.entries()) await ctx.ask(key, questions[at] as (typeof questions)[number]);
  return textResult('Done.');
});

/** A later round: its state, and the answers to the questions of the round before. */
function roundWith(state: string | undefined, inputResponses: Readonly<Record<string, unknown>>): Round {
  const asked = Object.keys(inputResponses).map(
    (key) => [key, questions[keys.indexOf(key)]?.digest ?? ''] as const,
  );
  return { round: 2, state, inputResponses, asked: new Map(asked) };
}

/** Twenty guards as a loop. The answers so far travel unchanged. */
async function guards(ctx: ServerContext): Promise<unknown> {
  const state = ctx.mcpReq.requestState<string>();
  const responses = { ...(state && JSON.parse(state)), ...ctx.mcpReq.inputResponses };
  for (const key of keys) {
    if (acceptedContent(responses, key, Answer)) continue;
    return inputRequired({
      inputRequests: {
        [key]: inputRequired.elicit({ message: `Question ${key}?`, requestedSchema: Answer }),
      },
      requestState: JSON.stringify(responses),
    });
  }
  return textResult('Done.');
}

/** The ratio and its spread. */
export async function replaySteps(pace: Pace): Promise<{ readonly replay: Spread; readonly noise: number }> {
  let state: string | undefined;
  for (let step = 0; step < STEPS; step++) {
    const answered = step === 0 ? {} : { [`q${step - 1}`]: response };
    const asked = (await journaled({}, contextOf(roundWith(state, answered)))) as {
      readonly requestState: string;
    };
    state = asked.requestState;
  }
  const kept = JSON.stringify(Object.fromEntries(keys.slice(0, STEPS - 1).map((key) => [key, response])));
  const answered = { [`q${STEPS - 1}`]: response };
  const afterGuards = roundWith(kept, answered);
  const afterJournal = roundWith(state, answered);
  const result = await race(
    withTwin([
      { name: 'guards', run: () => guards(contextOf(afterGuards)) },
      { name: 'journal', run: () => journaled({}, contextOf(afterJournal)) },
    ]),
    pace,
  );
  const noise = noiseOf(result.ratio(again('guards'), 'guards'));
  return { replay: result.ratio('journal', 'guards'), noise };
}
