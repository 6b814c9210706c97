/** A real user: shows the question at the terminal and reads the answer. */
import { createInterface } from 'node:readline';
import type { Reply, ShownPage, ShownQuestion, User } from '@mrtr/harness';
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

/** A person at a terminal, or lines from a pipe. `close` releases the input. */
export interface Person {
  readonly user: User;
  close(): void;
}

/**
 * Asks the person at `input`. It validates nothing, so that one can see what a server does with an answer that does not
 * fit. `decline` and `cancel` refuse the question; the end of input counts as `cancel`.
 */
export function personAt({ input, output, interrupted }: Streams): Person {
  const lines = createInterface({ input, output, terminal: Boolean(input.isTTY && output.isTTY) });
  // Listen from the start, since all lines from a pipe may arrive before the first question.
  const typed = lines[Symbol.asyncIterator]();
  let over = false;
  lines.once('close', () => {
    over = true;
  });
  // While readline reads, the terminal is in raw mode: Ctrl-C is a character and sends no signal.
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
    // A terminal shows the typed text; a pipe does not.
    if (done || !input.isTTY) output.write(`${done ? '' : printable(value)}\n`);
    return done ? undefined : value.trim();
  };

  const user = async ({ message, requestedSchema }: ShownQuestion): Promise<Reply> => {
    output.write(`${ASIDE}${printable(message)}\n`);
    const content: Record<string, Value> = {};
    for (const [name, field] of Object.entries((requestedSchema.properties ?? {}) as Record<string, Field>)) {
      const text = await read(
        `${ASIDE}${printable(name)} (${printable(describeAllowed(field))}; decline, cancel): `,
      );
      if (text === undefined || text === 'cancel') return { action: 'cancel' };
      if (text === 'decline') return { action: 'decline' };
      if (text !== '') content[name] = typedValue(field, text);
    }
    return { action: 'accept', content };
  };
  const open = async ({ message, url }: ShownPage): Promise<Reply> => {
    output.write(`${ASIDE}${printable(message)}\n${ASIDE}${printable(url)}\n`);
    const text = await read(`${ASIDE}Open that page, then say yes (or decline, cancel): `);
    if (text === undefined || text === 'cancel') return { action: 'cancel' };
    return { action: text === 'decline' || text === 'no' ? 'decline' : 'accept' };
  };
  return { user: Object.assign(user, { open }), close: () => lines.close() };
}

/** The values that a field allows: `metric | imperial`, `yes | no`, `whole number, 1 to 99999`. */
export function describeAllowed({ type, enum: values, minimum, maximum }: Field): string {
  if (Array.isArray(values)) return values.join(' | ');
  if (type === 'boolean') return 'yes | no';
  if (type !== 'integer' && type !== 'number') return 'text';
  const bounds = [
    ...(minimum === undefined ? [] : [`from ${minimum}`]),
    ...(maximum === undefined ? [] : [`to ${maximum}`]),
  ];
  return [type === 'integer' ? 'whole number' : 'number', ...bounds].join(' ');
}

// Typed text has no type. Text that parses as the field's type is converted; other text stays text.
function typedValue({ type }: Field, text: string): Value {
  if (type === 'boolean' && /^(yes|no|true|false)$/.test(text)) return text === 'yes' || text === 'true';
  const number = Number(text);
  return (type === 'integer' || type === 'number') && Number.isFinite(number) ? number : text;
}
