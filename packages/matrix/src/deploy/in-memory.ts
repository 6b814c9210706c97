/** Two versions in this process: two servers that have the key in common, and nothing else. */
import { randomBytes } from 'node:crypto';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { requestStatePolicy } from '@mrtr/core';
import { type Fetch, inInstance } from '@mrtr/harness';
import type { Change } from '@mrtr/option/deploys';
import { CHANGES } from './code/code.ts';
import type { Host } from './play.ts';
import { deploy } from './subject.ts';

/** H on PostgreSQL keeps its calls at `postgres`. `make` is what is deployed: the tool, or a broken twin of it. */
export const inMemory =
  (postgres?: string, make: typeof deploy = deploy): Host =>
  ({ option, change }, { world, recorder }) => {
    const keys = [randomBytes(32)];
    const start = (id: string, of: Change) => {
      const state = requestStatePolicy({ keys, version: CHANGES[of].version });
      const running = make(option, of).create({ world, state, postgres });
      return { id, running, face: createMcpHandler(() => running.server()) };
    };
    const old = start('v1', 'nothing');
    const next = start('v2', change);
    let current = old;
    const stop = async ({ face, running }: typeof old) => {
      await face.close();
      await running.close();
    };
    const fetch: Fetch = (url, init) => {
      const { id, face } = current;
      if (init?.method === 'POST') recorder.recordRoute(id, String(init.body));
      return inInstance(id, () => face.fetch(new Request(url, init)));
    };
    return {
      instances: [old.id, next.id],
      endpoint: () => ({ kind: 'http', url: new URL('http://mrtr.invalid/mcp'), fetch }),
      framesHeld: () => (old.running.framesHeld?.() ?? 0) + (next.running.framesHeld?.() ?? 0),
      async deploy() {
        current = next;
        await stop(old);
        recorder.record({ kind: 'restart', instance: next.id, deployed: change });
      },
      close: async () => {
        await Promise.all([current === old && stop(old), stop(next)]);
      },
    };
  };
