/** `pnpm demo --server`: calls a tool of any server, and draws the conversation as seen from outside. */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import {
  type ClientKind,
  converse,
  type Endpoint,
  foreignHosting,
  scriptedModel,
  type User,
} from '@mrtr/harness';
import { endpointFrom, escapeHidden, jsonText } from '@mrtr/harness/internal';
import { type Transcript, tally } from '@mrtr/harness/transcript';
import { InvalidArgumentError } from 'commander';
import { command, type Format, formatOf, jsonOption, oneOf, parseArgs, UsageError } from './command-line.ts';
import { plural } from './diagram.ts';
import { type DemoContext, print, showCall, withPerson } from './show-call.ts';
import { clip, type Environment, type Terminal, titleLine, WIDTH, wrap } from './terminal.ts';

export interface ServerCall {
  /** The typed address or command. */
  readonly server: string;
  readonly endpoint: Endpoint;
  /** Undefined for a list of the tools. */
  readonly tool?: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly client: ClientKind;
  readonly answer: 'ask' | 'decline' | 'cancel';
  readonly format: Format;
  /** The file for the transcript. */
  readonly save?: string | undefined;
}

/** Reads the command line; undefined for the help, which has been printed. */
export function readServerCall(
  args: readonly string[],
  terminal: Pick<Terminal, 'env' | 'stdout'>,
): ServerCall | undefined {
  const line = command('demo', '--server <server> [options]', 'Calls a tool of any server.', terminal)
    .requiredOption('--server <server>', 'its address, or the command that starts it')
    .option('--tool <name>', 'its tool; without, the tools are listed')
    .option('--arguments <json>', "the tool's arguments", argumentsIn, {})
    .option('--header <line>', "for an address: 'Name: value'; may be given again", further)
    .addOption(oneOf('--client <kind>', 'who calls', ['modern', 'legacy', 'modern-only']))
    .addOption(oneOf('--answer <kind>', 'who answers', ['ask', 'decline', 'cancel']))
    .addOption(jsonOption())
    .option('--mermaid', 'print it as a Mermaid diagram, and nothing else')
    .option('--save <file>', 'write the transcript there; the page of pnpm lab opens it');
  if (!parseArgs(line, args)) return undefined;
  const { header, json, mermaid, ...call } = line.opts();
  const endpoint = readEndpoint(call.server, terminal.env, header);
  return { ...(call as ServerCall), endpoint, format: formatOf({ json, mermaid }) };
}

const further = (line: string, before: readonly string[] = []) => [...before, line];

function readEndpoint(server: string, env: Environment, headers: readonly string[] = []) {
  try {
    return endpointFrom(server, env, headers);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function argumentsIn(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {}
  throw new InvalidArgumentError('It takes a JSON object, such as \'{"location":"Tokyo"}\'.');
}

/** Draws the conversation, or prints its transcript. Resolves with 1 if the call ended with an error. */
export async function runServerCall(asked: ServerCall, context: DemoContext) {
  const { server, tool, client, format, answer, save } = asked;
  const { terminal, paint } = context;
  const refuse = () => ({ action: answer as 'decline' | 'cancel' });
  let stderr = '';
  const onStderr = (text: string) => {
    stderr = (stderr + text).slice(-4000);
  };
  const endpoint: Endpoint =
    asked.endpoint.kind === 'stdio' ? { ...asked.endpoint, onStderr } : asked.endpoint;
  const transcript = await withPerson(asked, terminal, (person) => {
    const user = person ?? Object.assign(refuse, { open: refuse });
    const makeCall = (onEvent: OnEvent) => call({ ...asked, endpoint }, user, onEvent);
    if (format === 'drawing') {
      const title = titleLine(clip(tool ?? 'tools', WIDTH / 2), `${client} client`, paint);
      const below = wrap(server, WIDTH - 2).map((line) => ` ${paint('quiet', line)}`);
      print(context, [title, '', ...below, '']);
    }
    return showCall(context, format, makeCall, describeFromOutside, false);
  });
  if (save !== undefined) saveTo(save, transcript);
  if (!transcript.end.error) return 0;
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => `  ${escapeHidden(line)}\n`);
  if (stderr !== '') terminal.stderr.write(`\nThe server wrote to stderr:\n${lines.join('')}`);
  return 1;
}

function saveTo(file: string, transcript: Transcript) {
  try {
    writeFileSync(file, `${jsonText(transcript)}\n`);
  } catch (error) {
    throw new UsageError(`--save: ${(error as Error).message}.`);
  }
}

type OnEvent = NonNullable<Parameters<typeof converse>[0]['onEvent']>;

const model = scriptedModel('This is what the scripted model of `pnpm demo` says to everything.');

/** @throws UsageError for a tool that the server does not have. */
async function call(asked: ServerCall, user: User, onEvent: OnEvent) {
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
function describeFromOutside(transcript: Transcript) {
  const { rounds, questions, liveAsks } = tally(transcript);
  const held = liveAsks > 0 ? 'a stream held open' : 'no stream held open';
  const isOld = transcript.participants.some((one) => one.kind === 'client' && one.era === 'legacy');
  const revision = isOld ? ['2025-11-25'] : [];
  return [plural(rounds, 'round'), plural(questions, 'question'), held, ...revision].join(' · ');
}
