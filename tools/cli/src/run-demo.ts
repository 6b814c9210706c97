/** Runs one demo and draws it while it runs. */
import { callSubject, type Subject } from '@mrtr/comparison/calls';
import type { Change } from '@mrtr/comparison/claims';
import type { CountedEffect, DemoCall, MakeCall, Screen } from '@mrtr/comparison/demo';
import type { Transcript, TranscriptEvent } from '@mrtr/harness/transcript';
import type { Settings } from './args.ts';
import { type ListedDemo, loadOptionOf } from './catalog.ts';
import type { Format } from './command-line.ts';
import { closingLine } from './diagram.ts';
import { type DemoContext, drawCall, print, showCall, withPerson } from './show-call.ts';
import { titleLine, wrap } from './terminal.ts';

/** Draws every call of every subject, or prints a transcript. Resolves with the exit code. */
export async function runDemo(listed: ListedDemo, settings: Settings, context: DemoContext) {
  const { shape, answer, tool, format } = settings;
  const demo = await listed.load(context.postgres);
  if ('draw' in demo) {
    await demo.draw(screenOn(context), shape);
    return 0;
  }
  const subjects = demo.subjects.filter(({ id }) => shape === undefined || id === shape);
  await withPerson(settings, context.terminal, async (person) => {
    for (const [at, subject] of subjects.entries()) {
      const title = titleLine(`shape ${subject.id.toUpperCase()} · ${subject.title}`, '', context.paint);
      if (listed.shapes) print(context, at === 0 ? [title] : ['', title]);
      for (const demoCall of demo.calls(answer === 'ask' ? 'metric' : answer, tool)) {
        if (listed.shapes) print(context, ['']);
        const asked = { ...demoCall, user: person ?? demoCall.user };
        const makeCall: MakeCall = (onEvent) => makeDemoCall(subject, settings, asked, onEvent);
        await showCall(context, format, makeCall, closingOf(demoCall.effect));
      }
    }
  });
  return 0;
}

/** Makes a call whose second round reaches another version of the code, and draws it or prints its transcript. */
export async function runDeploy(listed: ListedDemo, change: Change, format: Format, context: DemoContext) {
  const { postgres } = context;
  const { callThroughDeploy, inMemory } = await import('@mrtr/matrix/deploy');
  const deployed = await loadOptionOf(listed, postgres);
  const makeCall: MakeCall = (onEvent) =>
    callThroughDeploy({ option: deployed, change, moment: 'asked' }, inMemory(postgres), { onEvent });
  await showCall(context, format, makeCall, closingOf());
  return 0;
}

const closingOf = (effect?: CountedEffect) => (transcript: Transcript) => closingLine(transcript, effect);

const screenOn = (context: DemoContext): Screen => ({
  paint: context.paint,
  wrap: (text) => wrap(text, 78),
  print: (lines) => print(context, lines),
  drawCall: (makeCall, effect, people) => drawCall(context, makeCall, closingOf(effect), true, people),
});

export async function makeDemoCall(
  subject: Subject,
  { client, hosting, legacy }: Pick<Settings, 'client' | 'hosting' | 'legacy'>,
  { effect: _, ...demoCall }: DemoCall,
  onEvent?: (event: TranscriptEvent) => void,
) {
  return callSubject({ subject, client, hosting, legacy, ...demoCall, onEvent });
}
