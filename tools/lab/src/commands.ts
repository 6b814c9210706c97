/** Checks the commands of a page: strict objects, and only known names. The endpoint limits their length. */
import { CHANGE_NAMES } from '@mrtr/comparison/claims';
import { z } from 'zod';
import { CHOICES, INSTANCE_IDS, SIDES } from './choices.ts';

const side = z.enum(SIDES);
const instance = z.enum(INSTANCE_IDS);
const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
const content = z.record(z.string(), value);

const keysOf = <Key extends string>(choices: Readonly<Record<Key, string>>) =>
  z.enum(Object.keys(choices) as Key[]);

const callArguments = z.record(z.string(), z.json());

const own = z.strictObject({
  tool: z.string().max(200),
  arguments: callArguments,
  /** The file whose lines are shown, one of those that the server loaded. Default: the one that was given or found. */
  source: z.string().max(1000).optional(),
});

const setUp = z.strictObject({
  option: z.string().regex(/^[a-z][a-z-]{0,20}$/),
  tool: keysOf(CHOICES.tool),
  client: keysOf(CHOICES.client),
  instances: keysOf(CHOICES.instances),
  /** Whether a state is served only once. */
  singleUse: z.boolean(),
  /** How an old client is asked. Default: by the SDK's shim. */
  legacy: z.enum(['shim', 'degrade']).optional(),
  /** The call of a server of the user's own, whose option is `OWN`. */
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
  /** The call of the set-up; `own` and `arguments` are for another one of the own server, or of an option. */
  z.strictObject({
    do: z.literal('call'),
    side,
    own: own.optional(),
    arguments: callArguments.optional(),
  }),
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

export type SetUp = Readonly<z.infer<typeof setUp>>;
/** A call of a tool of the user's own server. */
export type OwnCall = Readonly<z.infer<typeof own>>;
export type Fault = Readonly<z.infer<typeof fault>>;
export type Reply = Readonly<z.infer<typeof reply>>;
/** A command to a side; some also name an instance. */
export type Command = Readonly<z.infer<typeof command>>;

export function readCommand(text: string): Command | undefined {
  try {
    return command.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
