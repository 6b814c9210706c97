/** Two levels at which transcripts are compared, and the one list of what may differ between them. */
import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { CompleteResult } from '@mrtr/core';
import type { Conversation } from './conversation.ts';
import type { Transcript, WireMessage } from './transcript.ts';

/**
 * Every field of a wire message that is masked before transcripts are compared, with the reason. Whatever is
 * not in this table has to be equal.
 */
export const MASKED = [
  { path: ['id'], mask: '<id>', why: 'JSON-RPC ids are the sender’s business; a retry must have a new one' },
  { path: ['params', 'requestId'], mask: '<id>', why: 'a cancellation names the id of what it cancels' },
  {
    path: ['params', '_meta', 'progressToken'],
    mask: '<token>',
    why: 'chosen by the sender for each request',
  },
  { path: ['params', 'progressToken'], mask: '<token>', why: 'echoes such a token' },
  {
    path: ['params', 'requestState'],
    mask: undefined,
    why: 'opaque to clients, and whether a shape needs any is the one licensed difference',
  },
  { path: ['result', 'requestState'], mask: undefined, why: 'the same, on its way out' },
  { path: ['params', '_meta', 'timestamp'], mask: '<time>', why: 'the clock' },
] as const;

/** What the host application can observe: each question and how it was answered, and the end. */
export function hostView({ transcript, result, error }: Conversation): string[] {
  const seen = transcript.flatMap((event) => {
    switch (event.kind) {
      case 'user':
        return [`asked ${canonical(event.question)}`, `reply ${canonical(event.reply)}`];
      case 'model':
        return [`prompted ${canonical(event.params)}`, `said ${canonical(event.result)}`];
      case 'roots':
        return [`roots ${canonical(event.roots)}`];
      default:
        return [];
    }
  });
  return [...seen, error === undefined ? `result ${canonical(result)}` : `error ${error}`];
}

/** The same, where servers of both eras are compared: one at 2026-07-28 stamps its name on each result. */
export function hostViewOfAnyEra(conversation: Conversation): string[] {
  const { _meta: { [SERVER_INFO_META_KEY]: _, ...meta } = {}, ...result } = conversation.result ?? {};
  const unstamped = { ...result, ...(Object.keys(meta).length > 0 && { _meta: meta }) } as CompleteResult;
  return hostView({ ...conversation, result: conversation.result && unstamped });
}

/** What goes over the wire during the call, masked. */
export const wireView = (transcript: Transcript): string[] =>
  transcript.flatMap((event) =>
    event.kind === 'wire' ? [`${event.from} ${canonical(masked(event.message))}`] : [],
  );

function masked(message: WireMessage): unknown {
  const copy = structuredClone(message);
  for (const { path, mask } of MASKED) {
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], copy);
    const field = path.at(-1) as string;
    if (typeof parent !== 'object' || parent === null || !(field in parent)) continue;
    if (mask === undefined) delete (parent as Record<string, unknown>)[field];
    else (parent as Record<string, unknown>)[field] = mask;
  }
  return copy;
}

/** One line of JSON with sorted keys, so that equal values read equal. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
