/** A real user: shows the question at the terminal and reads the answer. */
import { createInterface } from 'node:readline';
import type { Reply, ShownQuestion, User } from '@mrtr/harness';
import { escapeHidden } from '@mrtr/harness/internal';
import { type Field, parseTyped, promptOf, type Value } from './form-field.ts';
import { ASIDE } from './lifelines.ts';
import type { Input, Terminal } from './terminal.ts';

type Streams = {
  readonly input: Input;
  readonly output: Terminal['stdout'];
  /** Called when the person presses Ctrl-C. */
  readonly interrupted: () => void;
};
type Form = { readonly properties?: Readonly<Record<string, Field>>; readonly required?: readonly string[] };

/**
 * Asks the person at `input`, a terminal or a pipe. `close` releases it. It does not validate answers, so that you can see how a server treats an answer that does
 * not fit. `decline` and `cancel` refuse the question; the end of input counts as `cancel`.
 */
export function personAt({ input, output, interrupted }: Streams) {
  const lines = createInterface({
    input,
    output: output.stream,
    terminal: Boolean(input.isTTY && output.isTTY),
  });
  // Listen from the start: all lines from a pipe may arrive before the first question.
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

  const read = async (prompt: string) => {
    // After the input has ended readline does not prompt, although lines may still be waiting.
    if (over) output.write(prompt);
    else {
      lines.setPrompt(prompt);
      lines.prompt();
    }
    const { value, done } = await typed.next();
    // A terminal shows the typed text; a pipe does not.
    if (done || !input.isTTY) output.write(`${done ? '' : escapeHidden(value)}\n`);
    return done ? undefined : value.trim();
  };

  /** Asks a question without fields. */
  const consent = async (what: string): Promise<Reply> => {
    const text = await read(`${ASIDE}${what} (or decline, cancel): `);
    return refusalIn(text?.toLowerCase() === 'no' ? 'decline' : text) ?? { action: 'accept' };
  };

  const user = async ({ message, requestedSchema }: ShownQuestion): Promise<Reply> => {
    output.write(`${ASIDE}${escapeHidden(message)}\n`);
    const content: Record<string, Value> = {};
    const { properties = {}, required = [] } = requestedSchema as Form;
    const fields = Object.entries(properties);
    if (fields.length === 0) return consent('Say yes');
    for (const [name, field] of fields) {
      const text = await read(`${ASIDE}${escapeHidden(promptOf(name, field, required.includes(name)))}`);
      const refusal = refusalIn(text);
      if (refusal) return refusal;
      const value = parseTyped(field, text ?? '');
      if (value !== undefined) content[name] = value;
    }
    return { action: 'accept', content } as Reply;
  };
  const open: User['open'] = async ({ message, url }) => {
    output.write(`${ASIDE}${escapeHidden(message)}\n${ASIDE}${escapeHidden(url)}\n`);
    return consent('Open that page, then say yes');
  };
  return { user: Object.assign(user, { open }) satisfies User, close: () => lines.close() };
}

function refusalIn(text = 'cancel'): Reply | undefined {
  const action = text.toLowerCase();
  return action === 'decline' || action === 'cancel' ? { action } : undefined;
}
