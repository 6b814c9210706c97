/** The commands that a page may give, checked: closed shapes, short texts, and no name of anything but ours. */
import { CHANGE_NAMES } from '@mrtr/matrix/deploy/changes';
import { z } from 'zod';
import type { Command } from './protocol.ts';

const side = z.enum(['left', 'right']);
const instance = z.enum(['i1', 'i2']);
const short = z.string().max(200);
const value = z.union([short, z.number(), z.boolean(), z.array(short).max(20)]);
const content = z.record(z.string().max(60), value).refine((given) => Object.keys(given).length <= 20);

const setUp = z.strictObject({
  option: z.string().regex(/^[a-z][a-z-]{0,20}$/),
  tool: z.enum(['weather', 'work-item', 'order']),
  client: z.enum(['modern', 'legacy', 'mute']),
  instances: z.enum(['one', 'two']),
  singleUse: z.boolean(),
});

const way = z.strictObject({
  to: instance.optional(),
  deliver: z.enum(['once', 'twice', 'lose-answer']),
  state: z.string().max(20_000).optional(),
  unasked: z.strictObject({ key: z.string().min(1).max(60), content }).optional(),
});

const reply = z.union([
  z.literal('silence'),
  z.strictObject({ action: z.enum(['accept', 'decline', 'cancel']), content: content.optional() }),
]);

const command = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('set-up'), side, setUp }),
  z.strictObject({ do: z.literal('call'), side }),
  z.strictObject({ do: z.literal('answer'), side, question: z.number().int().min(1).max(99), reply }),
  z.strictObject({ do: z.literal('way'), side, way }),
  z.strictObject({ do: z.literal('kill'), side, instance }),
  z.strictObject({ do: z.literal('restart'), side, instance }),
  z.strictObject({ do: z.literal('deploy'), side, change: z.enum(CHANGE_NAMES) }),
]);

/** Reads a command from text; undefined if the text is not a command. */
export function readCommand(text: string): Command | undefined {
  try {
    const { data } = command.safeParse(JSON.parse(text));
    return data as Command | undefined;
  } catch {
    return undefined;
  }
}
