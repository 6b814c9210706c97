/** Runs one demo and draws it while it runs. */
import type { User } from '@mrtr/harness';
import type { Transcript, TranscriptEvent } from '@mrtr/harness/transcript';
import { converse, type Subject } from '@mrtr/matrix';
import { inMemory, play as playDeploy } from '@mrtr/matrix/deploy';
import { findOption, type ListedOption, loadOption } from '@mrtr/options';
import { type Demo, loadSubjects } from './catalog.ts';
import { closingLine } from './closing-line.ts';
import { type Scene, scenesOf } from './scene.ts';
import type { Settings } from './settings.ts';
import { drawCall, print, type Stage, textOf, withPerson } from './stage.ts';
import { titleLine } from './title-line.ts';

/** Draws every scene of every subject, or prints the transcripts and nothing else. Resolves with the exit code. */
export async function runDemo(demo: Demo, settings: Settings, stage: Stage): Promise<number> {
  const subjects = await loadSubjects(demo, settings.shape, stage.postgres);
  await withPerson(settings, stage.terminal, async (person) => {
    // New scenes for each subject, because a scripted user remembers earlier questions.
    const scenes = () =>
      scenesOf(demo.name, settings).map((scene) => ({ ...scene, ...asking(person, scene) }));
    if (settings.format !== 'drawing') {
      print(stage, await transcriptsOf(subjects, settings, scenes, demo.shapes !== undefined));
      return;
    }
    for (const [at, subject] of subjects.entries()) {
      const title = titleLine(`shape ${subject.id.toUpperCase()} · ${subject.title}`, '', stage.paint);
      if (demo.shapes) print(stage, at === 0 ? [title] : ['', title]);
      for (const scene of scenes()) {
        if (demo.shapes) print(stage, ['']);
        const makeCall = (onEvent: OnEvent) => play(subject, settings, scene, onEvent);
        await drawCall(stage, makeCall, (transcript) => closingLine(transcript, scene.effect));
      }
    }
  });
  return 0;
}

type OnEvent = (event: TranscriptEvent) => void;

/** Makes a call whose second round reaches another version of the code, and draws it or prints its transcript. */
export async function runDeploy(
  { option }: Demo,
  { deploy: change, format }: Pick<Settings, 'format'> & { readonly deploy: NonNullable<Settings['deploy']> },
  stage: Stage,
): Promise<number> {
  const { postgres } = stage;
  const listed = postgres === undefined ? option : findOption('h-postgres');
  const deployed = await loadOption(listed as ListedOption);
  const makeCall = (onEvent: OnEvent) =>
    playDeploy({ option: deployed, change, moment: 'asked' }, inMemory(postgres), { onEvent });
  if (format === 'drawing')
    await drawCall(stage, makeCall, (transcript) => closingLine(transcript, undefined));
  else print(stage, [textOf(format, await makeCall(() => {}))]);
  return 0;
}

const asking = (user: User | undefined, { user: scripted }: Scene) =>
  user && {
    user: Object.assign((...shown: Parameters<User>) => user(...shown), user, { open: scripted?.open }),
  };

export async function play(
  subject: Subject,
  { client, hosting, legacy }: Settings,
  { effect: _, ...scene }: Scene,
  onEvent?: (event: TranscriptEvent) => void,
): Promise<Transcript> {
  return converse({ subject, client, hosting, legacy, ...scene, onEvent });
}

/** One transcript; or, of a demo in several shapes, all of them: as JSON by the shape's letter and the method. */
async function transcriptsOf(
  subjects: readonly Subject[],
  settings: Settings,
  scenes: () => readonly Scene[],
  inShapes: boolean,
): Promise<readonly string[]> {
  const byShape: Record<string, Record<string, Transcript>> = {};
  for (const subject of subjects) {
    for (const scene of scenes()) {
      const transcript = await play(subject, settings, scene);
      byShape[subject.id] = { ...byShape[subject.id], [scene.call.method]: transcript };
    }
  }
  if (inShapes && settings.format === 'json') return [JSON.stringify(byShape, undefined, 2)];
  const all = Object.values(byShape).flatMap((shape) => Object.values(shape));
  const texts = all.map((transcript) => textOf(settings.format, transcript));
  // Several diagrams are a Markdown document.
  return all.length === 1 ? texts : texts.map((text) => `\`\`\`mermaid\n${text}\n\`\`\`\n`);
}
