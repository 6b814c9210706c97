/** Runs one demo and draws it while it runs. */

import { converse, type Subject } from '@mrtr/comparison/calls';
import { findOption, type ListedOption, loadOption } from '@mrtr/comparison/options';
import type { User } from '@mrtr/harness';
import type { Transcript, TranscriptEvent } from '@mrtr/harness/transcript';
import { inMemory, play as playDeploy } from '@mrtr/matrix/deploy';
import { type Demo, loadSubjects } from './catalog.ts';
import { type CountedEffect, closingLine } from './closing-line.ts';
import { type Scene, scenesOf } from './scene.ts';
import type { Settings } from './settings.ts';
import { drawCall, type MakeCall, print, type Stage, textOf, withPerson } from './stage.ts';
import { titleLine } from './title-line.ts';

/** Draws every scene of every subject, or prints a transcript. Resolves with the exit code. */
export async function runDemo(demo: Demo, settings: Settings, stage: Stage): Promise<number> {
  const subjects = await loadSubjects(demo, settings.shape, stage.postgres);
  await withPerson(settings, stage.terminal, async (person) => {
    // New scenes for each subject, because a scripted user remembers earlier questions.
    const scenes = () =>
      scenesOf(demo.name, settings).map((scene) => ({ ...scene, ...asking(person, scene) }));
    for (const [at, subject] of subjects.entries()) {
      const title = titleLine(`shape ${subject.id.toUpperCase()} · ${subject.title}`, '', stage.paint);
      if (demo.shapes) print(stage, at === 0 ? [title] : ['', title]);
      for (const scene of scenes()) {
        if (demo.shapes) print(stage, ['']);
        const makeCall: MakeCall = (onEvent) => play(subject, settings, scene, onEvent);
        await showCall(stage, settings.format, makeCall, scene.effect);
      }
    }
  });
  return 0;
}

/** Makes a call whose second round reaches another version of the code, and draws it or prints its transcript. */
export async function runDeploy(
  { option }: Demo,
  { deploy: change, format }: Pick<Settings, 'format'> & { readonly deploy: NonNullable<Settings['deploy']> },
  stage: Stage,
): Promise<number> {
  const { postgres } = stage;
  const listed = postgres === undefined ? option : findOption('h-postgres');
  const deployed = await loadOption(listed as ListedOption);
  const makeCall: MakeCall = (onEvent) =>
    playDeploy({ option: deployed, change, moment: 'asked' }, inMemory(postgres), { onEvent });
  await showCall(stage, format, makeCall);
  return 0;
}

/** Draws a call, or prints its transcript and nothing else. */
async function showCall(
  stage: Stage,
  format: Settings['format'],
  makeCall: MakeCall,
  effect?: CountedEffect,
): Promise<void> {
  if (format === 'drawing') await drawCall(stage, makeCall, (transcript) => closingLine(transcript, effect));
  else print(stage, [textOf(format, await makeCall(() => {}))]);
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
