/** Reaching question 21 over 20 answers: J's replay, and twenty guards by hand. Only the callbacks, no protocol. */
import { acceptedContent, inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import { elicitation, textResult, withCall } from '@mrtr/core';
import { journaled } from '@mrtr/shapes/journal';
import { z } from 'zod';
import { again, type Pace, race, withTwin } from './race.ts';
import { noiseOf, type Spread } from './statistics.ts';

const STEPS = 20;
const Answer = z.object({ units: z.enum(['metric', 'imperial']) });
const keys = Array.from({ length: STEPS + 1 }, (_, at) => `q${at}`);
const questions = keys.map((key) => elicitation(`Question ${key}?`, Answer));
const response = { action: 'accept', content: { units: 'metric' } } as const;

/** A request's context, as far as the two look at it. */
function contextOf(
  state: string | undefined,
  inputResponses: Record<string, unknown> | undefined,
): ServerContext {
  const mcpReq = {
    method: 'tools/call',
    envelope: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } },
    inputResponses,
    requestState: () => state,
  };
  return withCall({ mcpReq } as unknown as ServerContext, {
    method: 'tools/call',
    target: 'ask',
    revision: '2026-07-28',
    legacyCapabilities: undefined,
    legacy: 'degrade',
    principal: undefined,
    round: 1,
    maxRounds: 100,
    maxStateBytes: 65_536,
  });
}

const journal = journaled(async (_args: object, ctx) => {
  for (const [at, key] of keys.entries()) await ctx.ask(key, questions[at] as (typeof questions)[number]);
  return textResult('Done.');
});

/** Twenty ifs, as a loop; the answers so far travel as they came. */
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

/** The ratio, and how far to trust it. */
export async function replaySteps(pace: Pace): Promise<{ readonly replay: Spread; readonly noise: number }> {
  let state: string | undefined;
  for (let step = 0; step < STEPS; step++) {
    const answered = step === 0 ? undefined : { [`q${step - 1}`]: response };
    const asked = (await journal({}, contextOf(state, answered))) as { readonly requestState: string };
    state = asked.requestState;
  }
  const kept = JSON.stringify(Object.fromEntries(keys.slice(0, STEPS - 1).map((key) => [key, response])));
  const answered = { [`q${STEPS - 1}`]: response };
  const result = await race(
    withTwin([
      { name: 'guards', run: () => guards(contextOf(kept, answered)) },
      { name: 'journal', run: () => journal({}, contextOf(state, answered)) },
    ]),
    pace,
  );
  const noise = noiseOf(result.ratio(again('guards'), 'guards'));
  return { replay: result.ratio('journal', 'guards'), noise };
}
