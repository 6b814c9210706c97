/** Checks the commands of a page: strict objects, and only known names. The endpoint limits their length. */
import { CHANGE_NAMES } from '@mrtr/comparison/claims';
import { z } from 'zod';
import { CHOICES, INSTANCE_IDS, type SetUp, SIDES } from './set-up.ts';

const side = z.enum(SIDES);
const instance = z.enum(INSTANCE_IDS);
const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
const content = z.record(z.string(), value);

const keysOf = <Key extends string>(choices: Readonly<Record<Key, string>>) =>
  z.enum(Object.keys(choices) as Key[]);

const own = z.strictObject({
  tool: z.string().max(200),
  arguments: z.record(z.string(), z.json()),
  source: z.string().max(1000).optional(),
});

const setUp: z.ZodType<SetUp> = z.strictObject({
  option: z.string().regex(/^[a-z][a-z-]{0,20}$/),
  tool: keysOf(CHOICES.tool),
  client: keysOf(CHOICES.client),
  instances: keysOf(CHOICES.instances),
  singleUse: z.boolean(),
  own: own.optional(),
});

const fault = z.strictObject({
  /** The instance that gets the request; default: the next in turn. */
  to: instance.optional(),
  deliver: z.enum(['once', 'twice', 'lose-answer']),
  state: z.string().optional(),
  /** Adds an answer to a question that may not have been asked. */
  unasked: z.strictObject({ key: z.string().min(1), content }).optional(),
});

const reply = z.union([
  z.literal('silence'),
  z.strictObject({ action: z.enum(['accept', 'decline', 'cancel']), content: content.optional() }),
]);

const command = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('set-up'), side, setUp }),
  z.strictObject({ do: z.literal('call'), side, own: own.optional() }),
  /** Ends the processes of a side, so that it is not shown. */
  z.strictObject({ do: z.literal('close'), side }),
  z.strictObject({
    do: z.literal('answer'),
    side,
    question: z.number().int().min(1).max(99),
    reply,
    isAgent: z.boolean().optional(),
  }),
  z.strictObject({ do: z.literal('fault'), side, fault }),
  z.strictObject({ do: z.literal('kill'), side, instance }),
  z.strictObject({ do: z.literal('restart'), side, instance }),
  z.strictObject({ do: z.literal('deploy'), side, change: z.enum(CHANGE_NAMES) }),
]);

export type Fault = Readonly<z.infer<typeof fault>>;
/** A command to a side; some also name an instance. */
export type Command = Readonly<z.infer<typeof command>>;

export function readCommand(text: string): Command | undefined {
  try {
    return command.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
