/** Opens the states of a conversation with the lab's key. */

import { SERVER_INFO } from '@mrtr/comparison';
import { keyRing, openState } from '@mrtr/core/seal';
import type { TranscriptEvent } from '@mrtr/harness/transcript';
import { CALLS } from './call.ts';
import type { Inside, Insides, ToolWord } from './protocol.ts';
import { statesIn } from './states.ts';

/** Opens every state that the server of `tool` sent in `events`, with its sealing key. */
export function insides(events: readonly TranscriptEvent[], tool: ToolWord, key: Uint8Array): Insides {
  const found: Record<string, Inside> = {};
  for (const state of statesIn(events)) found[state] ??= inside(state, tool, key);
  return found;
}

function inside(state: string, tool: ToolWord, key: Uint8Array): Inside {
  const { method, params } = CALLS[tool];
  const binding = {
    method,
    target: params.name,
    arguments: params.arguments,
    audience: SERVER_INFO.name,
    principal: undefined,
  };
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
