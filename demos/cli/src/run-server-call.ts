/** Calls a tool of a server that is not ours, and draws the conversation as far as it can be seen from outside. */
import { converse, foreignHosting, type User } from '@mrtr/harness';
import { type Transcript, tally } from '@mrtr/harness/transcript';
import { plural } from './closing-line.ts';
import { clip, wrap } from './printable.ts';
import type { ServerCall } from './server-call.ts';
import { drawCall, print, type Stage, textOf, withPerson } from './stage.ts';
import { titleLine, WIDTH } from './title-line.ts';

/** Draws the conversation, or prints its transcript. Resolves with 1 where the call ended with an error. */
export async function runServerCall(asked: ServerCall, stage: Stage): Promise<number> {
  const { server, tool, client, format, answer } = asked;
  const { terminal, paint } = stage;
  const refuse = () => ({ action: answer as 'decline' | 'cancel' });
  const transcript = await withPerson(asked, terminal, async (person) => {
    const user = person ?? Object.assign(refuse, { open: refuse });
    if (format !== 'drawing') return call(asked, user, () => {});
    const below = wrap(server, WIDTH - 2).map((line) => ` ${paint('quiet', line)}`);
    print(stage, [titleLine(clip(tool, WIDTH / 2), `${client} client`, paint), '', ...below, '']);
    return drawCall(stage, (onEvent) => call(asked, user, onEvent), describeFromOutside, false);
  });
  if (format !== 'drawing') print(stage, [textOf(format, transcript)]);
  return transcript.end.error ? 1 : 0;
}

type OnEvent = NonNullable<Parameters<typeof converse>[0]['onEvent']>;

function call(asked: ServerCall, user: User, onEvent: OnEvent): Promise<Transcript> {
  const { endpoint, tool, client } = asked;
  const params = { name: tool, arguments: asked.arguments };
  return converse({ client, call: { method: 'tools/call', params }, user, onEvent }, () =>
    foreignHosting(endpoint),
  );
}

/** `2 rounds · 1 question · no stream held open`. How often the handler was entered cannot be seen from outside. */
function describeFromOutside(transcript: Transcript): string {
  const { rounds, questions, liveAsks } = tally(transcript);
  const held = liveAsks > 0 ? 'a stream held open' : 'no stream held open';
  const isOld = transcript.participants.some((one) => one.kind === 'client' && one.era === 'legacy');
  const revision = isOld ? ['2025-11-25'] : [];
  return [plural(rounds, 'round'), plural(questions, 'question'), held, ...revision].join(' · ');
}
