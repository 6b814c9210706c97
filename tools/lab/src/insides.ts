/** The calls that the lab makes, and their states, opened with the lab's key. */

import { GET_WEATHER, RESOLVE_WORK_ITEM, SERVER_INFO } from '@mrtr/comparison';
import { openState } from '@mrtr/core/internal';
import { keyRing } from '@mrtr/core/seal';
import type { TranscriptEvent } from '@mrtr/harness/transcript';
import { ORDER } from '@mrtr/matrix/deploy';
import type { Inside, Insides } from './protocol.ts';
import type { OwnCall, ToolWord } from './set-up.ts';
import { statesIn } from './states.ts';

/** The calls of the options, by the page's choices. */
export const CALLS: Readonly<Record<ToolWord, OwnCall>> = {
  weather: { tool: GET_WEATHER, arguments: { location: 'Tokyo' } },
  'work-item': { tool: RESOLVE_WORK_ITEM, arguments: { id: 4522, state: 'Resolved' } },
  order: { tool: ORDER, arguments: {} },
};

/** Opens every state that an option sent in `events`, with its sealing key. */
export function insides(events: readonly TranscriptEvent[], call: OwnCall, key: Uint8Array): Insides {
  const found: Record<string, Inside> = {};
  for (const state of statesIn(events)) found[state] ??= inside(state, call, key);
  return found;
}

function inside(state: string, { tool, arguments: given }: OwnCall, key: Uint8Array): Inside {
  const binding = {
    method: 'tools/call',
    target: tool,
    arguments: given,
    audience: SERVER_INFO.name,
    principal: undefined,
  } as const;
  const opened = openState(state, binding, Date.now(), keyRing([key]));
  if ('rejected' in opened) return { sealed: false };
  const { round, callId: call, expiresAt, asked, payload } = opened;
  return { sealed: true, round, call, expiresAt, asked: [...asked], payload };
}
