/** Calls a tool of any server, and draws the conversation as seen from outside. */
import { pathToFileURL } from 'node:url';
import { converse, type Endpoint, foreignHosting, scriptedModel, type User } from '@mrtr/harness';
import { escapeHidden, type Transcript, tally } from '@mrtr/harness/transcript';
import { plural } from './closing-line.ts';
import { UsageError } from './command-line.ts';
import { clip, wrap } from './printable.ts';
import type { ServerCall } from './server-call.ts';
import { drawCall, print, type Stage, textOf, withPerson } from './stage.ts';
import { titleLine, WIDTH } from './title-line.ts';

/** Draws the conversation, or prints its transcript. Resolves with 1 if the call ended with an error. */
export async function runServerCall(asked: ServerCall, stage: Stage): Promise<number> {
  const { server, tool, client, format, answer } = asked;
  const { terminal, paint } = stage;
  const refuse = () => ({ action: answer as 'decline' | 'cancel' });
  let stderr = '';
  const onStderr = (text: string) => {
    stderr = (stderr + text).slice(-4000);
  };
  const endpoint: Endpoint =
    asked.endpoint.kind === 'stdio' ? { ...asked.endpoint, onStderr } : asked.endpoint;
  const transcript = await withPerson(asked, terminal, async (person) => {
    const user = person ?? Object.assign(refuse, { open: refuse });
    const makeCall = (onEvent: OnEvent) => call({ ...asked, endpoint }, user, onEvent);
    if (format !== 'drawing') return makeCall(() => {});
    const below = wrap(server, WIDTH - 2).map((line) => ` ${paint('quiet', line)}`);
    print(stage, [titleLine(clip(tool ?? 'tools', WIDTH / 2), `${client} client`, paint), '', ...below, '']);
    return drawCall(stage, makeCall, describeFromOutside, { inside: false });
  });
  if (format !== 'drawing') print(stage, [textOf(format, transcript)]);
  if (!transcript.end.error) return 0;
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => `  ${escapeHidden(line)}\n`);
  if (stderr !== '') terminal.stderr.write(`\nThe server wrote to stderr:\n${lines.join('')}`);
  return 1;
}

type OnEvent = NonNullable<Parameters<typeof converse>[0]['onEvent']>;

const model = scriptedModel('This is what the scripted model of `pnpm demo` says to everything.');

/** @throws UsageError for a tool that the server does not have. */
async function call(asked: ServerCall, user: User, onEvent: OnEvent): Promise<Transcript> {
  const { endpoint, tool = '', client } = asked;
  const params = { name: tool, arguments: asked.arguments };
  const roots = [{ uri: pathToFileURL(process.cwd()).href, name: 'here' }];
  let mistake: UsageError | undefined;
  const transcript = await converse(
    {
      client,
      call: { method: 'tools/call', params },
      ...{ user, model, roots, onEvent },
      onConnect: async ({ toolNames }) => {
        const names = await toolNames();
        if (names.includes(tool)) return;
        const what = tool === '' ? 'Which tool?' : `The server has no tool '${tool}'.`;
        mistake = new UsageError(`${what} Tools: ${names.map((name) => escapeHidden(name)).join(', ')}.`);
        throw mistake;
      },
    },
    () => foreignHosting(endpoint),
  );
  if (mistake) throw mistake;
  return transcript;
}

/** `2 rounds · 1 question · no stream held open`. From outside, the handler's entries cannot be seen. */
function describeFromOutside(transcript: Transcript): string {
  const { rounds, questions, liveAsks } = tally(transcript);
  const held = liveAsks > 0 ? 'a stream held open' : 'no stream held open';
  const isOld = transcript.participants.some((one) => one.kind === 'client' && one.era === 'legacy');
  const revision = isOld ? ['2025-11-25'] : [];
  return [plural(rounds, 'round'), plural(questions, 'question'), held, ...revision].join(' · ');
}
