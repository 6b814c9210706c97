/** A conversation as other tools take it. */
import {
  CLIENT,
  eventsOf,
  type Message,
  objectIn,
  type Transcript,
  toMermaid,
} from '@mrtr/harness/transcript';
import type { Conversation } from '../../src/protocol.ts';

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

type TextOf = (conversation: Conversation, option: string | undefined) => string | undefined;

/** What is copied of a conversation, by its title; undefined where there is nothing to copy. */
export const COPIES: readonly (readonly [title: string, textOf: TextOf])[] = [
  ['Mermaid diagram', (conversation) => toMermaid(whole(conversation))],
  ['Transcript (JSON)', (conversation) => JSON.stringify(whole(conversation), null, 2)],
  ['First request (curl)', curl],
  ['mrtr-check command', check],
];

/** A call that is still going on ends, for who reads it, where it was copied. */
const whole = (conversation: Conversation): Transcript => ({
  ...conversation,
  end: conversation.end ?? { error: { message: 'Copied before the end of the call.' } },
});

/**
 * The first request of the call, if its tool is one that `pnpm serve` has: it has none with a version 2. A retry would bring
 * state that only the server here can open.
 */
function firstCall({ events }: Conversation) {
  const isCall = ({ from, message }: Message) => from === CLIENT && message.method === 'tools/call';
  const message = eventsOf('message', events).find(isCall)?.message;
  return message && objectIn(message, 'params').name !== 'order' ? message : undefined;
}

function curl(conversation: Conversation, option = 'f'): string | undefined {
  const message = firstCall(conversation);
  // An old client says hello first, in requests of their own.
  const isModern = conversation.participants.some((one) => one.kind === 'client' && one.era === 'modern');
  if (!message || !isModern) return undefined;
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
    `# pnpm serve option-${option} --http 3000`,
    'curl -s http://127.0.0.1:3000/mcp \\',
    ...lines,
    `  -d ${quote(JSON.stringify(message))}`,
  ].join('\n');
}

function check(conversation: Conversation, option = 'f'): string | undefined {
  const message = firstCall(conversation);
  if (!message) return undefined;
  const { name, arguments: given } = objectIn(message, 'params');
  const keys = new Map(eventsOf('question', conversation.events).map(({ id, key }) => [id, key]));
  const answers = eventsOf('answer', conversation.events).flatMap(({ id, reply }) => {
    const key = keys.get(id);
    if (reply === 'silence' || reply.action !== 'accept' || key === undefined) return [];
    return [`  --answer ${quote(`${key}=${JSON.stringify(reply.content ?? {})}`)} \\`];
  });
  return [
    // The tools of the options write to a fake world.
    `pnpm mrtr-check --allow-effects --tool ${name} --arguments ${quote(JSON.stringify(given ?? {}))} \\`,
    ...answers,
    `  -- node demos/cli/run.mjs serve option-${option}`,
  ].join('\n');
}
