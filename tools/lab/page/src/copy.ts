/** Copies of a conversation for other tools. */
import {
  CLIENT,
  eventsOf,
  type Message,
  objectIn,
  type Transcript,
  toMermaid,
} from '@mrtr/harness/transcript';
import type { TranscriptSoFar } from '../../src/protocol.ts';
import { isAddress } from '../../src/set-up.ts';
import { pack } from './open-file.ts';

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The server of a conversation: one of our options, or one of the user's own. */
export interface Origin {
  readonly option?: string | undefined;
  readonly server?: string | undefined;
}

type TextOf = (conversation: TranscriptSoFar, origin: Origin) => string | undefined;

/** The texts to copy, by title; undefined without anything to copy. */
export const COPIES: readonly (readonly [title: string, textOf: TextOf])[] = [
  ['Mermaid diagram', (conversation) => toMermaid(whole(conversation))],
  ['Transcript (JSON)', (conversation) => JSON.stringify(whole(conversation), null, 2)],
  ['First request (curl)', curl],
  ['mrtr-check command', check],
];

/** A link to this page that holds the transcript, and opens it anywhere. */
export const linkWith = async (conversation: TranscriptSoFar) =>
  `${location.href.split('#')[0]}#open=${await pack(JSON.stringify(whole(conversation)))}`;

/** The transcript of a conversation. An open call ends where it was copied. */
const whole = (conversation: TranscriptSoFar): Transcript => ({
  ...conversation,
  end: conversation.end ?? { error: { message: 'Copied before the end of the call.' } },
});

/**
 * The first request of the call, if `pnpm serve` has its tool (it has no tool with a version 2). A retry would carry
 * state that only this server can open.
 */
function firstCall({ events }: TranscriptSoFar) {
  const isCall = ({ from, message }: Message) => from === CLIENT && message.method === 'tools/call';
  const message = eventsOf('message', events).find(isCall)?.message;
  return message && objectIn(message, 'params').name !== 'order' ? message : undefined;
}

function curl(conversation: TranscriptSoFar, { option, server = '' }: Origin) {
  const message = firstCall(conversation);
  // An old client first sends its handshake.
  const isModern = conversation.participants.some((one) => one.kind === 'client' && one.era === 'modern');
  if (!message || !isModern || !(option || isAddress(server))) return undefined;
  const { name } = objectIn(message, 'params');
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': `${name}`,
  };
  const lines = Object.entries(headers).map(([header, value]) => `  -H ${quote(`${header}: ${value}`)} \\`);
  return [
    ...(option ? [`# pnpm serve option-${option} --http 3000`] : []),
    `curl -s ${option ? 'http://127.0.0.1:3000/mcp' : quote(server)} \\`,
    ...lines,
    `  -d ${quote(JSON.stringify(message))}`,
  ].join('\n');
}

function check(conversation: TranscriptSoFar, { option, server }: Origin) {
  const message = firstCall(conversation);
  if (!message || !(option || server)) return undefined;
  const { name, arguments: given } = objectIn(message, 'params');
  const keys = new Map(eventsOf('question', conversation.events).map(({ id, key }) => [id, key]));
  const answers = eventsOf('answer', conversation.events).flatMap(({ id, reply }) => {
    const key = keys.get(id);
    if (reply === 'silence' || reply.action !== 'accept' || key === undefined) return [];
    return [`  --answer ${quote(`${key}=${JSON.stringify(reply.content ?? {})}`)} \\`];
  });
  return [
    // The options' tools write only to a fake world. Another tool's effects are its author's to allow.
    `pnpm mrtr-check ${option ? '--allow-effects ' : ''}--tool ${name} --arguments ${quote(JSON.stringify(given ?? {}))} \\`,
    ...answers,
    option
      ? `  -- node tools/cli/run.mjs serve option-${option}`
      : isAddress(server)
        ? `  ${quote(server ?? '')}`
        : `  -- ${server}`,
  ].join('\n');
}
