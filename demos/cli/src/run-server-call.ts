/** Calls a tool of a server that is not ours, and draws the conversation as far as it can be seen from outside. */
import { converse, type Hosting, type User } from '@mrtr/harness';
import { type Transcript, tally, toMermaid } from '@mrtr/harness/transcript';
import { personAt } from './ask-person.ts';
import { plural } from './closing-line.ts';
import { Diagram } from './diagram.ts';
import type { Paint } from './paint.ts';
import { clip, wrap } from './printable.ts';
import { INTERRUPTED } from './run-demo.ts';
import type { ServerCall } from './server-call.ts';
import type { Terminal } from './terminal.ts';
import { titleLine, WIDTH } from './title-line.ts';

/**
 * Draws the conversation on stdout; or prints its transcript, and nothing else.
 *
 * @returns the exit code: 1 where the call ended with an error.
 */
export async function runServerCall(asked: ServerCall, terminal: Terminal, paint: Paint): Promise<number> {
  const { format, answer } = asked;
  const print = (lines: readonly string[]) => {
    for (const line of lines) terminal.stdout.write(`${line}\n`);
  };
  const output = format === 'drawing' ? terminal.stdout : terminal.stderr;
  const exitInterrupted = () => terminal.exit(INTERRUPTED);
  const person =
    answer === 'ask' ? personAt({ input: terminal.stdin, output, interrupted: exitInterrupted }) : undefined;
  const refuse = () => ({ action: answer as 'decline' | 'cancel' });
  const user = person?.user ?? Object.assign(refuse, { open: refuse });
  try {
    const transcript =
      format === 'drawing' ? await draw(asked, user, paint, print) : await call(asked, user, () => {});
    if (format === 'json') print([JSON.stringify(transcript, undefined, 2)]);
    if (format === 'mermaid') print([toMermaid(transcript)]);
    return transcript.end.error ? 1 : 0;
  } finally {
    person?.close();
  }
}

async function draw(asked: ServerCall, user: User, paint: Paint, print: (lines: readonly string[]) => void) {
  const { server, tool, client } = asked;
  const title = titleLine(clip(tool, WIDTH / 2), `${client} client`, paint);
  const below = wrap(server, WIDTH - 2).map((line) => ` ${paint('quiet', line)}`);
  const diagram = new Diagram(paint, { inside: false });
  print([title, '', ...below, '', ...diagram.begin()]);
  const transcript = await call(asked, user, (event) => print(diagram.next(event)));
  print([...diagram.end(transcript), '', `  ${paint('quiet', fromOutside(transcript))}`]);
  return transcript;
}

type OnEvent = NonNullable<Parameters<typeof converse>[0]['onEvent']>;

function call(asked: ServerCall, user: User, onEvent: OnEvent): Promise<Transcript> {
  const { endpoint, tool, client } = asked;
  const params = { name: tool, arguments: asked.arguments };
  // It runs already, or starts with the client's connection and ends with it.
  const hosting: Hosting = {
    instances: ['server'],
    endpoint: () => endpoint,
    framesHeld: () => 0,
    close: async () => {},
  };
  return converse({ client, call: { method: 'tools/call', params }, user, onEvent }, () => hosting);
}

/** `2 rounds · 1 question · no stream held open`. How often the handler was entered cannot be seen from outside. */
function fromOutside(transcript: Transcript): string {
  const { rounds, questions, liveAsks } = tally(transcript);
  const held = liveAsks > 0 ? 'a stream held open' : 'no stream held open';
  const isOld = transcript.participants.some((one) => one.kind === 'client' && one.era === 'legacy');
  const revision = isOld ? ['2025-11-25'] : [];
  return [plural(rounds, 'round'), plural(questions, 'question'), held, ...revision].join(' · ');
}
