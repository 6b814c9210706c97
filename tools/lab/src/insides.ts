/** The calls that the lab makes, and their states, opened with the lab's key. */

import { GET_WEATHER, RESOLVE_WORK_ITEM, SERVER_INFO } from '@mrtr/comparison';
import { openState } from '@mrtr/core/internal';
import { keyRing } from '@mrtr/core/seal';
import type { TranscriptEvent } from '@mrtr/harness/transcript';
import { ORDER } from '@mrtr/matrix/deploy';
import type { Inside, Insides } from './protocol.ts';
import type { ToolWord } from './set-up.ts';
import { statesIn } from './states.ts';

/** The calls, by the page's choices. */
export const CALLS = {
  weather: { method: 'tools/call', params: { name: GET_WEATHER, arguments: { location: 'Tokyo' } } },
  'work-item': {
    method: 'tools/call',
    params: { name: RESOLVE_WORK_ITEM, arguments: { id: 4522, state: 'Resolved' } },
  },
  order: { method: 'tools/call', params: { name: ORDER, arguments: {} } },
} as const satisfies Readonly<Record<ToolWord, unknown>>;

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
  if ('rejected' in opened) return { sealed: false };
  const { round, callId: call, expiresAt, asked, payload } = opened;
  return { sealed: true, round, call, expiresAt, asked: [...asked], payload };
}
