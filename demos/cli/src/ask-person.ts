/** The user who is really there: shows the question at the terminal and takes what is typed. */
import { createInterface } from 'node:readline';
import type { Reply, ShownQuestion, User } from '@mrtr/harness';
import { ASIDE } from './frame.ts';
import { printable } from './printable.ts';
import type { Input, Output } from './terminal.ts';

type Streams = {
  readonly input: Input;
  readonly output: Output;
  /** Called when the person presses Ctrl-C. */
  readonly interrupted: () => void;
};
type Field = Readonly<Record<string, unknown>>;
type Value = string | number | boolean;

/** A person at a terminal, or lines from a pipe. `close` lets go of the input. */
export interface Person {
  readonly user: User;
  close(): void;
}

/**
 * Asks the person at `input`. Nothing is validated here, so that one can see what a server does with an answer that
 * does not fit. `decline` and `cancel` are taken as such, and the end of input as a cancel.
 */
export function personAt({ input, output, interrupted }: Streams): Person {
  const lines = createInterface({ input, output, terminal: Boolean(input.isTTY && output.isTTY) });
  // From the start, since lines from a pipe may all be there before the first question.
  const typed = lines[Symbol.asyncIterator]();
  let over = false;
  lines.once('close', () => {
    over = true;
  });
  // While readline reads, the terminal is in raw mode: Ctrl-C is a character, and no signal comes.
  lines.once('SIGINT', () => {
    output.write('\n');
    lines.close();
    interrupted();
  });

  const read = async (prompt: string): Promise<string | undefined> => {
    // Once the input has ended readline refuses to prompt, although lines may still be waiting.
    if (over) output.write(prompt);
    else {
      lines.setPrompt(prompt);
      lines.prompt();
    }
    const { value, done } = await typed.next();
    // A terminal shows what is typed; a pipe does not.
    if (done || !input.isTTY) output.write(`${done ? '' : printable(value)}\n`);
    return done ? undefined : value.trim();
  };

  const user = async ({ message, requestedSchema }: ShownQuestion): Promise<Reply> => {
    output.write(`${ASIDE}${printable(message)}\n`);
    const content: Record<string, Value> = {};
    for (const [name, field] of Object.entries((requestedSchema.properties ?? {}) as Record<string, Field>)) {
      const text = await read(`${ASIDE}${printable(name)} (${printable(allowed(field))}; decline, cancel): `);
      if (text === undefined || text === 'cancel') return { action: 'cancel' };
      if (text === 'decline') return { action: 'decline' };
      if (text !== '') content[name] = typedValue(field, text);
    }
    return { action: 'accept', content };
  };
  return { user, close: () => lines.close() };
}

/** What a field takes, in words: `metric | imperial`, `yes | no`, `whole number, 1 to 99999`. */
export function allowed({ type, enum: values, minimum, maximum }: Field): string {
  if (Array.isArray(values)) return values.join(' | ');
  if (type === 'boolean') return 'yes | no';
  if (type !== 'integer' && type !== 'number') return 'text';
  const bounds = [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
  ];
  return [type === 'integer' ? 'whole number' : 'number', ...bounds].join(' ');
}

// A form has types, a keyboard has none: what reads as the field's type becomes it, the rest stays text.
function typedValue({ type }: Field, text: string): Value {
  if (type === 'boolean' && /^(yes|no|true|false)$/.test(text)) return text === 'yes' || text === 'true';
  const number = Number(text);
  return (type === 'integer' || type === 'number') && Number.isFinite(number) ? number : text;
}
