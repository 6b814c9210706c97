/** The calls that the lab makes, by the page's choices. */

import { GET_WEATHER, RESOLVE_WORK_ITEM } from '@mrtr/comparison';
import { ORDER } from '@mrtr/matrix/deploy';
import type { ToolWord } from './protocol.ts';

export const CALLS = {
  weather: { method: 'tools/call', params: { name: GET_WEATHER, arguments: { location: 'Tokyo' } } },
  'work-item': {
    method: 'tools/call',
    params: { name: RESOLVE_WORK_ITEM, arguments: { id: 4522, state: 'Resolved' } },
  },
  order: { method: 'tools/call', params: { name: ORDER, arguments: {} } },
} as const satisfies Readonly<Record<ToolWord, unknown>>;
