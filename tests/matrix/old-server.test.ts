/** The other direction: a modern client, with the application that it has for new servers, at an old server. */

import { OPTIONS } from '@mrtr/options';
import { beforeAll, describe, expect, it } from 'vitest';
import { oldServer } from '../servers/old-server/index.ts';
import {
  type Cell,
  converse,
  measure,
  measureOldServer,
  type OldServerCell,
  onceAtOldServer,
  SCENARIOS,
  SCRIPTS,
  sameFromOldServer,
} from './index.ts';

const newCells: Cell[] = [];
let oldCells: OldServerCell[] = [];

beforeAll(async () => {
  const scenarios = SCENARIOS.filter(
    ({ client, hosting, legacy }) => client === 'modern' && hosting === 'memory' && legacy === 'shim',
  );
  for (const option of OPTIONS) newCells.push(...(await measure(option, scenarios)));
  oldCells = await measureOldServer(oldServer);
}, 60_000);

describe('a modern client at an old server', () => {
  it('is measured with every script', () => {
    expect(oldCells.map(({ scenario }) => scenario.script)).toEqual(SCRIPTS);
  });

  it.each(OPTIONS.map(({ id }) => id))('shows its application what option %s shows it', (id) => {
    const own = newCells.filter(({ observed }) => observed.observation.option === id);
    expect(own).toHaveLength(SCRIPTS.length);
    expect(sameFromOldServer(oldCells, own).join('\n')).toBe('');
  });

  it('makes one request, enters the handler once, and has its effects once', () => {
    expect(oldCells.flatMap(onceAtOldServer).join('\n')).toBe('');
  });

  it.each([
    ['modern-only', /did not offer pinned protocol version 2026-07-28/],
    ['mute', /Client does not support form elicitation/],
  ] as const)('is told clearly when it cannot be served (%s)', async (client, message) => {
    const { result, error, transcript } = await converse({
      subject: oldServer,
      client,
      hosting: 'memory',
      legacy: 'shim',
      call: {
        method: 'tools/call',
        params: { name: 'resolve_work_item', arguments: { id: 4522, state: 'Resolved' } },
      },
      user: () => ({ action: 'cancel' }),
    });
    expect(error ?? JSON.stringify(result)).toMatch(message);
    expect(transcript.filter(({ kind }) => kind === 'write')).toEqual([]);
  });
});
