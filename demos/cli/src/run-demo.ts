/** Runs one demo and draws it while it happens. */
import type { Conversation, Subject, TranscriptEvent, User } from '@mrtr/harness';
import { converse } from '@mrtr/tests/matrix';
import type { Settings } from './args.ts';
import { personAt } from './ask-person.ts';
import { loadSubjects, type Name, shapesOf } from './catalog.ts';
import { Diagram } from './diagram.ts';
import { titleLine } from './frame.ts';
import type { Paint } from './paint.ts';
import { type Scene, scenesOf } from './scene.ts';

/** A demo, loaded: every scene is played by every subject. */
interface Programme {
  readonly subjects: readonly Subject[];
  /** Whether it is shown in several shapes, so that each conversation has to say in which. */
  readonly inShapes: boolean;
  readonly settings: Settings;
  /** Fresh scenes: a scripted user remembers what they were asked. */
  readonly scenes: () => readonly Scene[];
}

/** Draws the conversations on stdout, below their titles; with `json`, the transcripts and nothing else. */
export async function runDemo(name: Name, settings: Settings, paint: Paint): Promise<void> {
  const { json, answer } = settings;
  // Who wants JSON gets only that on stdout, and can be asked all the same.
  const output = json ? process.stderr : process.stdout;
  const person = answer === 'ask' ? personAt({ input: process.stdin, output }) : undefined;
  const programme: Programme = {
    subjects: await loadSubjects(name, settings.shape, settings.database && 'postgres'),
    inShapes: shapesOf(name).length > 0,
    settings,
    scenes: () => scenesOf(name, settings).map((scene) => ({ ...scene, ...asking(person?.user) })),
  };
  try {
    await (json ? printTranscripts(programme) : draw(programme, paint));
  } finally {
    person?.close();
  }
}

const asking = (user: User | undefined) => user && { user };

/** The conversation that a scene comes to, with the settings' client, hosting and policy. */
export async function play(
  subject: Subject,
  { client, hosting, legacy }: Settings,
  { effect: _, ...scene }: Scene,
  onEvent?: (event: TranscriptEvent) => void,
): Promise<Conversation> {
  return converse({ subject, client, hosting, legacy, ...scene, onEvent });
}

/** One transcript; or, of a demo in several shapes, an object of them, by the shape's letter and the method. */
async function printTranscripts({ subjects, inShapes, settings, scenes }: Programme): Promise<void> {
  const byShape: Record<string, Record<string, Conversation['transcript']>> = {};
  for (const subject of subjects) {
    for (const scene of scenes()) {
      const { transcript } = await play(subject, settings, scene);
      if (!inShapes) return printJson(transcript);
      byShape[subject.id] = { ...byShape[subject.id], [scene.call.method]: transcript };
    }
  }
  printJson(byShape);
}

async function draw({ subjects, inShapes, settings, scenes }: Programme, paint: Paint): Promise<void> {
  for (const [at, subject] of subjects.entries()) {
    const title = titleLine(`shape ${subject.id.toUpperCase()} · ${subject.title}`, '', paint);
    if (inShapes) print(at === 0 ? [title] : ['', title]);
    for (const scene of scenes()) {
      const diagram = new Diagram(paint);
      print([...(inShapes ? [''] : []), ...diagram.begin()]);
      const conversation = await play(subject, settings, scene, (event) => print(diagram.next(event)));
      print(diagram.end(conversation));
      print(['', ...diagram.closing(conversation, scene.effect)]);
    }
  }
}

function print(lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

function printJson(value: unknown): void {
  print([JSON.stringify(value, undefined, 2)]);
}
