/**
 * One small tool in two versions: it opens a ticket, asks for a size and a colour, and places an order. A {@link Change}
 * makes a version 2 of version 1.
 */

import type { CallToolResult } from '@modelcontextprotocol/server';
import type { World } from '@mrtr/comparison';
import type { Change } from '@mrtr/comparison/claims';
import { cancelledResult, elicitation, textResult } from '@mrtr/core';
import { z } from 'zod';
import { type Ask, type Effect, isAsk, type Outline } from '../outlines/outline.ts';

interface Named {
  /** The name of the form's field, or of the effect in the world. A change may rename the step, but not these. */
  readonly name: string;
  readonly key: string;
}

interface AskStep extends Ask, Named {
  readonly choices: readonly string[];
}

/** An effect, whose value the call needs later. */
interface EffectStep extends Omit<Effect, 'run'>, Named {
  readonly value: unknown;
}

function ask(name: string, choices: readonly string[], message = `Which ${name}?`, key = name) {
  return { name, key, choices, asks: { [key]: elicitation(message, z.object({ [name]: z.enum(choices) })) } };
}

const effect = (name: string, value: unknown, schema: z.ZodType, key = name) => ({
  ...{ name, key, value, schema },
  does: key,
});

const SIZES = ['S', 'M', 'L'];
const ticket = effect('ticket', 'T1', z.string());
const size = ask('size', SIZES);
const colour = ask('colour', ['red', 'blue']);
const gift = ask('gift', ['yes', 'no']);

/** The steps of every version 2, by its change. The changed question is the size, which is open or was answered. */
export const STEPS: Readonly<Record<Change, readonly (AskStep | EffectStep)[]>> = {
  nothing: [ticket, size, colour],
  reworded: [ticket, ask('size', SIZES, 'What size, please?'), colour],
  renamed: [ticket, ask('size', SIZES, undefined, 'fit'), colour],
  moved: [ticket, colour, size],
  removed: [ticket, colour],
  'added-before': [ticket, gift, size, colour],
  'added-after': [ticket, size, colour, gift],
  narrowed: [ticket, ask('size', ['S', 'L']), colour],
  widened: [ticket, ask('size', [...SIZES, 'XL']), colour],
  'step-renamed': [effect('ticket', 'T1', z.string(), 'slip'), size, colour],
  'step-moved': [size, ticket, colour],
  'step-removed': [size, colour],
  'step-added': [ticket, effect('reserve', 'R1', z.string()), size, colour],
  'step-value': [effect('ticket', { number: 'T1' }, z.object({ number: z.string() })), size, colour],
  version: [ticket, size, colour],
};

/** The policy's `version` after a change. */
export const policyVersion = (change: Change) => (change === 'version' ? '2' : '1');

/** The tool after a change. */
export function outlineOf(change: Change, world: World): Outline<CallToolResult> {
  const steps = STEPS[change];
  return {
    steps: steps.map((step) =>
      isAsk(step) ? step : { ...step, run: () => world.audit.record(step.name).then(() => step.value) },
    ),
    refused: cancelledResult,
    async end(data, ctx) {
      const place = async () => {
        await world.audit.record('order');
        const parts = steps.map(({ name, key }) => `${name} ${textOf(data[key])}`);
        return `Ordered: ${parts.sort().join(', ')}.`;
      };
      return textResult(await (ctx?.once ? ctx.once('order', place) : place()));
    },
  };
}

/** An answer is a form of one field, and a newer ticket is an object of one. */
const textOf = (value: unknown) =>
  typeof value === 'object' && value !== null ? String(Object.values(value)[0]) : String(value);
