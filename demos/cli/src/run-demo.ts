/** Runs one demo and draws it while it happens. */
import { type Conversation, converse, type TranscriptEvent } from '@mrtr/harness';
import type { Settings } from './args.ts';
import { personAt } from './ask-person.ts';
import { loadSubject, type Name } from './catalog.ts';
import { Diagram } from './diagram.ts';
import type { Paint } from './paint.ts';
import { type Scene, sceneOf } from './scene.ts';

/** Draws the conversation on stdout, below its title; with `json`, the transcript and nothing else. */
export async function runDemo(name: Name, settings: Settings, paint: Paint): Promise<void> {
  const { json, answer } = settings;
  // Who wants JSON gets only that on stdout, and can be asked all the same.
  const output = json ? process.stderr : process.stdout;
  const person = answer === 'ask' ? personAt({ input: process.stdin, output }) : undefined;
  const scripted = sceneOf(name, settings);
  const scene = { ...scripted, user: person?.user ?? scripted.user };
  try {
    await (json ? printTranscript(name, settings, scene) : draw(name, settings, scene, paint));
  } finally {
    person?.close();
  }
}

/** The conversation that a scene comes to, with the settings' client, hosting and policy. */
export async function play(
  name: Name,
  { client, hosting, legacy }: Settings,
  { call, user }: Scene,
  onEvent?: (event: TranscriptEvent) => void,
): Promise<Conversation> {
  return converse({ subject: await loadSubject(name), client, hosting, legacy, call, user, onEvent });
}

async function printTranscript(name: Name, settings: Settings, scene: Scene): Promise<void> {
  const { transcript } = await play(name, settings, scene);
  process.stdout.write(`${JSON.stringify(transcript, undefined, 2)}\n`);
}

async function draw(name: Name, settings: Settings, scene: Scene, paint: Paint): Promise<void> {
  const diagram = new Diagram(paint);
  const print = (lines: readonly string[]) => {
    for (const line of lines) process.stdout.write(`${line}\n`);
  };
  print(diagram.begin());
  const conversation = await play(name, settings, scene, (event) => print(diagram.next(event)));
  print(diagram.end(conversation));
  print(['', ...diagram.closing(conversation, scene.effect)]);
}
