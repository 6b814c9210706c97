/** What the lab's key shows inside the states of a conversation. */
import { keyRing, openState } from '@mrtr/core/seal';
import type { LogicalCall } from '@mrtr/harness';
import { eventsOf, objectIn, type TranscriptEvent } from '@mrtr/harness/transcript';
import { SERVER_INFO } from '@mrtr/tools';
import type { Inside, Insides } from './protocol.ts';

/** Opens every state that a server gave out in `events`, with the key that it was sealed with. */
export function insides(events: readonly TranscriptEvent[], call: LogicalCall, key: Uint8Array): Insides {
  const found: Record<string, Inside> = {};
  for (const { message } of eventsOf('message', events)) {
    const { requestState } = objectIn(message, 'result');
    if (typeof requestState === 'string') found[requestState] ??= inside(requestState, call, key);
  }
  return found;
}

function inside(state: string, { method, params }: LogicalCall, key: Uint8Array): Inside {
  const target = 'uri' in params ? params.uri : params.name;
  const given = 'uri' in params ? {} : params.arguments;
  const binding = { method, target, arguments: given, audience: SERVER_INFO.name, principal: undefined };
  const opened = openState(state, binding, Date.now(), keyRing([key]));
  if ('rejected' in opened) return { sealed: false, payload: state };
  const { round, callId, expiresAt, asked, payload } = opened;
  return {
    sealed: true,
    round,
    call: callId,
    expiresAt,
    asked: [...asked],
    ...(payload !== undefined && { payload }),
  };
}
