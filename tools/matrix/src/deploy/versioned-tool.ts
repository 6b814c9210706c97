/**
 * One small tool in two versions: it opens a ticket, asks for a size and a colour, and places an order. A {@link Change}
 * makes a version 2 of version 1.
 */

import type { World } from '@mrtr/comparison';
import type { Change } from '@mrtr/comparison/claims';
import { type CallToolResult, cancelledResult, type Elicitation, elicitation, textResult } from '@mrtr/core';
import { z } from 'zod';
import type { Data, Script } from '../scripts/index.ts';

export interface AskStep {
  readonly kind: 'ask';
  /** The name of the form's field. A change may rename the question, but not the field. */
  readonly name: string;
  readonly key: string;
  readonly choices: readonly string[];
  readonly schema: z.ZodType<Readonly<Record<string, string>>>;
  readonly question: Elicitation<z.ZodType<Readonly<Record<string, string>>>>;
}

/** A step with an effect, whose value the call needs later. */
export interface EffectStep {
  readonly kind: 'effect';
  /** The name of the effect in the world. A change may rename the step, but not the effect. */
  readonly name: string;
  readonly key: string;
  readonly schema: z.ZodType;
  run(world: World): Promise<unknown>;
}

export type Step = AskStep | EffectStep;

export interface Code {
  readonly steps: readonly Step[];
  readonly version: string;
}

export const isAsk = (step: Step): step is AskStep => step.kind === 'ask';
export const isEffect = (step: Step): step is EffectStep => step.kind === 'effect';

function ask(name: string, choices: readonly string[], message = `Which ${name}?`, key = name): AskStep {
  const schema = z.object({ [name]: z.enum(choices) }) as z.ZodType<Readonly<Record<string, string>>>;
  const question = elicitation(message, schema as never) as unknown as AskStep['question'];
  return { kind: 'ask', name, key, choices, schema, question };
}

function effect(name: string, value: unknown, schema: z.ZodType, key = name): EffectStep {
  const run = async (world: World) => {
    await world.audit.record(name);
    return value;
  };
  return { kind: 'effect', name, key, schema, run };
}

const SIZES = ['S', 'M', 'L'];
const ticket = effect('ticket', 'T1', z.string());
const size = ask('size', SIZES);
const colour = ask('colour', ['red', 'blue']);
const gift = ask('gift', ['yes', 'no']);

const VERSION_1: Code = { version: '1', steps: [ticket, size, colour] };

const change = (...steps: readonly Step[]): Code => ({ version: '1', steps });

/** Every version 2, by its change. The changed question is the size, which is open or was answered. */
export const CHANGES: Readonly<Record<Change, Code>> = {
  nothing: VERSION_1,
  reworded: change(ticket, ask('size', SIZES, 'What size, please?'), colour),
  renamed: change(ticket, ask('size', SIZES, undefined, 'fit'), colour),
  moved: change(ticket, colour, size),
  removed: change(ticket, colour),
  'added-before': change(ticket, gift, size, colour),
  'added-after': change(ticket, size, colour, gift),
  narrowed: change(ticket, ask('size', ['S', 'L']), colour),
  widened: change(ticket, ask('size', [...SIZES, 'XL']), colour),
  'step-renamed': change(effect('ticket', 'T1', z.string(), 'slip'), size, colour),
  'step-moved': change(size, ticket, colour),
  'step-removed': change(size, colour),
  'step-added': change(ticket, effect('reserve', 'R1', z.string()), size, colour),
  'step-value': change(effect('ticket', { number: 'T1' }, z.object({ number: z.string() })), size, colour),
  version: { ...VERSION_1, version: '2' },
};

export const scriptOf = (code: Code, world: World): Script<CallToolResult> => ({
  steps: code.steps.map((step) =>
    isAsk(step)
      ? { asks: { [step.key]: step.question } }
      : { does: step.key, schema: step.schema, run: () => step.run(world) },
  ),
  refused: cancelledResult,
  async end(given, guard) {
    const data = Object.fromEntries(code.steps.map(({ name, key }) => [name, given[key]]));
    return textResult(await guard('order', () => place(code, data, world)));
  },
});

export async function place({ steps }: Code, data: Data, world: World): Promise<string> {
  const parts = steps.map((step) => `${step.name} ${textOf(data[step.name])}`).sort();
  await world.audit.record('order');
  return `Ordered: ${parts.join(', ')}.`;
}

/** An answer is a form of one field, and a newer ticket is an object of one. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? String(Object.values(value)[0]) : String(value);
