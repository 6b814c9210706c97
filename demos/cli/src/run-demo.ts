/** Runs one demo and draws it while it runs. */
import type { User } from '@mrtr/harness';
import { type Transcript, type TranscriptEvent, toMermaid } from '@mrtr/harness/transcript';
import { converse, type Subject } from '@mrtr/matrix';
import type { Settings } from './args.ts';
import { personAt } from './ask-person.ts';
import { type Demo, loadSubjects } from './catalog.ts';
import { Diagram } from './diagram.ts';
import type { Paint } from './paint.ts';
import { type Scene, scenesOf } from './scene.ts';
import type { Terminal } from './terminal.ts';
import { titleLine } from './title-line.ts';

/** The terminal of a demo. */
export interface Stage {
  readonly terminal: Terminal;
  readonly paint: Paint;
  /** The connection string of the database, for a demo that uses one. */
  readonly postgres?: string | undefined;
}

/** A loaded demo. Every subject plays every scene. */
interface Programme {
  readonly subjects: readonly Subject[];
  /** Whether it is shown in several shapes, so that each conversation names its shape. */
  readonly inShapes: boolean;
  readonly settings: Settings;
  readonly print: (lines: readonly string[]) => void;
  /** New scenes, because a scripted user remembers earlier questions. */
  readonly scenes: () => readonly Scene[];
}

/**
 * Draws the conversations on stdout, below their titles; or prints their transcripts, and nothing else.
 *
 * @returns the exit code.
 */
export async function runDemo(
  demo: Demo,
  settings: Settings,
  { terminal, paint, postgres }: Stage,
): Promise<number> {
  const { format, answer } = settings;
  // Stdout is only for the transcript, so ask the person on stderr.
  const output = format === 'drawing' ? terminal.stdout : terminal.stderr;
  const exitInterrupted = () => terminal.exit(INTERRUPTED);
  const person =
    answer === 'ask' ? personAt({ input: terminal.stdin, output, interrupted: exitInterrupted }) : undefined;
  const programme: Programme = {
    subjects: await loadSubjects(demo, settings.shape, postgres),
    inShapes: demo.shapes !== undefined,
    settings,
    print: (lines) => {
      for (const line of lines) terminal.stdout.write(`${line}\n`);
    },
    scenes: () =>
      scenesOf(demo.name, settings).map((scene) => ({ ...scene, ...asking(person?.user, scene) })),
  };
  try {
    await (format === 'drawing' ? draw(programme, paint) : printTranscripts(programme));
  } finally {
    person?.close();
  }
  return 0;
}

/** The exit code that a shell reports for a program that Ctrl-C ended. */
export const INTERRUPTED = 130;

const asking = (user: User | undefined, { user: scripted }: Scene) =>
  user && {
    user: Object.assign((...shown: Parameters<User>) => user(...shown), user, { open: scripted?.open }),
  };

/** The conversation of a scene, with the settings' client, hosting and policy. */
export async function play(
  subject: Subject,
  { client, hosting, legacy }: Settings,
  { effect: _, ...scene }: Scene,
  onEvent?: (event: TranscriptEvent) => void,
): Promise<Transcript> {
  return converse({ subject, client, hosting, legacy, ...scene, onEvent });
}

/** One transcript; or, of a demo in several shapes, all of them: as JSON by the shape's letter and the method. */
async function printTranscripts({ subjects, inShapes, settings, print, scenes }: Programme): Promise<void> {
  const byShape: Record<string, Record<string, Transcript>> = {};
  for (const subject of subjects) {
    for (const scene of scenes()) {
      const transcript = await play(subject, settings, scene);
      byShape[subject.id] = { ...byShape[subject.id], [scene.call.method]: transcript };
    }
  }
  const all = Object.values(byShape).flatMap((shape) => Object.values(shape));
  const [sole] = all;
  if (settings.format === 'json') print([JSON.stringify(inShapes ? byShape : sole, undefined, 2)]);
  else if (sole && all.length === 1) print([toMermaid(sole)]);
  // Several diagrams are a Markdown document.
  else print(all.map((transcript) => `\`\`\`mermaid\n${toMermaid(transcript)}\n\`\`\`\n`));
}

async function draw({ subjects, inShapes, settings, print, scenes }: Programme, paint: Paint): Promise<void> {
  for (const [at, subject] of subjects.entries()) {
    const title = titleLine(`shape ${subject.id.toUpperCase()} · ${subject.title}`, '', paint);
    if (inShapes) print(at === 0 ? [title] : ['', title]);
    for (const scene of scenes()) {
      const diagram = new Diagram(paint);
      print([...(inShapes ? [''] : []), ...diagram.begin()]);
      const transcript = await play(subject, settings, scene, (event) => print(diagram.next(event)));
      print(diagram.end(transcript));
      print(['', ...diagram.closing(transcript, scene.effect)]);
    }
  }
}
