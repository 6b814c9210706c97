/** Shows a conversation at a terminal: its user, its drawing, and its transcript as text. */
import type { MakeCall } from '@mrtr/comparison/demo';
import type { User } from '@mrtr/harness';
import { jsonText } from '@mrtr/harness/internal';
import { type Participant, type Transcript, toMermaid } from '@mrtr/harness/transcript';
import type { Format } from './command-line.ts';
import { diagramOf } from './diagram.ts';
import { type Paint, type Terminal, wrap } from './terminal.ts';

export interface DemoContext {
  readonly terminal: Terminal;
  readonly paint: Paint;
  readonly postgres?: string | undefined;
}

export function print({ terminal }: Pick<DemoContext, 'terminal'>, lines: readonly string[]) {
  for (const line of lines) terminal.stdout.writePainted(`${line}\n`);
}

export async function drawCall(
  context: DemoContext,
  makeCall: MakeCall,
  closing: (transcript: Transcript) => string,
  inside?: boolean,
  people?: readonly Participant[],
) {
  const diagram = diagramOf(context.paint, inside, people);
  // Hold back the heads until the first event, because the call may be impossible. Hold back lines while the person
  // types.
  const waiting = [...diagram.begin()];
  let questions = 0;
  const draw = (lines: readonly string[]) => {
    waiting.push(...lines);
    if (lines.length > 0 && questions === 0) print(context, waiting.splice(0));
  };
  const transcript = await makeCall((event) => {
    if (event.kind === 'answer') questions--;
    draw(diagram.next(event));
    if (event.kind === 'question') questions++;
  });
  questions = 0;
  const lines = wrap(closing(transcript), 78).map((line) => `  ${context.paint('quiet', line)}`);
  draw([...diagram.end(transcript), '', ...lines]);
  return transcript;
}

/** Draws a call, or prints its transcript and nothing else. */
export async function showCall(
  context: DemoContext,
  format: Format,
  makeCall: MakeCall,
  closing: (transcript: Transcript) => string,
  inside?: boolean,
) {
  if (format === 'drawing') return drawCall(context, makeCall, closing, inside);
  const transcript = await makeCall(() => {});
  print(context, [format === 'mermaid' ? toMermaid(transcript) : jsonText(transcript)]);
  return transcript;
}

/** Runs `work`; with the person at the terminal, if that person answers. */
export async function withPerson<T>(
  { answer, format }: { readonly answer: string; readonly format: Format },
  terminal: Terminal,
  work: (person: User | undefined) => Promise<T>,
) {
  if (answer !== 'ask') return work(undefined);
  // A transcript must be the only output on stdout.
  const output = format === 'drawing' ? terminal.stdout : terminal.stderr;
  // The exit code that a shell reports for a program that Ctrl-C ended.
  const { personAt } = await import('./ask-person.ts');
  const person = personAt({ input: terminal.stdin, output, interrupted: () => terminal.exit(130) });
  try {
    return await work(person.user);
  } finally {
    person.close();
  }
}
