/** A conversation as other tools take it. */
import { CLIENT, eventsOf, objectIn, type Transcript, toMermaid } from '@mrtr/harness/transcript';
import type { Conversation } from '../../src/protocol.ts';

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The ways, with what each gives for a conversation; undefined where there is nothing to give. */
export const COPIES: readonly {
  readonly id: string;
  readonly title: string;
  readonly of: (conversation: Conversation, option: string | undefined) => string | undefined;
}[] = [
  { id: 'mermaid', title: 'Mermaid diagram', of: (conversation) => toMermaid(whole(conversation)) },
  {
    id: 'json',
    title: 'Transcript (JSON)',
    of: (conversation) => JSON.stringify(whole(conversation), null, 2),
  },
  { id: 'curl', title: 'Latest request (curl)', of: curl },
  { id: 'check', title: 'mrtr-check command', of: check },
];

/** A call that is still going on ends, for who reads it, where it was copied. */
const whole = (conversation: Conversation): Transcript => ({
  ...conversation,
  end: conversation.end ?? { error: { message: 'Copied before the end of the call.' } },
});

/** Only `pnpm serve` makes these servers, and it has no tool with a version 2. */
const isServed = (name: unknown): boolean => name !== 'order';

function latestCall({ events }: Conversation) {
  return eventsOf('message', events).findLast(
    ({ from, message }) => from === CLIENT && message.method === 'tools/call',
  )?.message;
}

function curl(conversation: Conversation, option = 'f'): string | undefined {
  const message = latestCall(conversation);
  if (!message) return undefined;
  const { name } = objectIn(message, 'params');
  if (!isServed(name)) return undefined;
  const isModern = conversation.participants.some((one) => one.kind === 'client' && one.era === 'modern');
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(isModern && {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': `${name}`,
    }),
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
  const message = latestCall(conversation);
  if (!message) return undefined;
  const { name, arguments: given } = objectIn(message, 'params');
  if (!isServed(name)) return undefined;
  const keys = new Map(eventsOf('question', conversation.events).map(({ id, key }) => [id, key]));
  const answers = eventsOf('answer', conversation.events).flatMap(({ id, reply }) => {
    const key = keys.get(id);
    if (reply === 'silence' || reply.action !== 'accept' || key === undefined) return [];
    return [`  --answer ${quote(`${key}=${JSON.stringify(reply.content ?? {})}`)} \\`];
  });
  return [
    `pnpm mrtr-check --tool ${name} --arguments ${quote(JSON.stringify(given ?? {}))} \\`,
    ...answers,
    `  -- node demos/cli/run.mjs serve option-${option}`,
  ].join('\n');
}
