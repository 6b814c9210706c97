/** A deployment whose real clients leave, on either hosting. The test controls the clock and the gates. */
import { randomBytes } from 'node:crypto';
import { requestStatePolicy } from '@mrtr/core';
import { createWorld, GET_WEATHER, RESOLVE_WORK_ITEM, type World } from '@mrtr/example-tools';
import { type ClientKind, Conversation, type Deferred, type Hosting, host } from '@mrtr/harness';
import type { End } from '@mrtr/harness/transcript';
import { serveHttp } from '@mrtr/hosting/http';
import type { Option } from '@mrtr/option';
import { onTestFinished } from 'vitest';

export type HostingKind = 'memory' | 'http';

const CALLS = {
  weather: { name: GET_WEATHER, arguments: { location: 'Tokyo' } },
  item: { name: RESOLVE_WORK_ITEM, arguments: { id: 4522, state: 'Resolved' } },
} as const;

export type Tool = keyof typeof CALLS;

/** A place where the world waits, if any: `reached` resolves when a handler is there, `release` lets it continue. */
export interface Work {
  readonly at: 'audit' | 'weather';
  readonly reached: Deferred;
  readonly release: Deferred;
}

/** Runs `option` until the test ends. */
export async function deploy(option: Option, hosting: HostingKind, work?: Work) {
  const plain = createWorld();
  const atWork = async (at: Work['at']) => {
    if (work?.at !== at) return;
    work.reached.open();
    await work.release.promise;
  };
  const world: World = {
    ...plain,
    weather: {
      current: async (location, units) => {
        await atWork('weather');
        return plain.weather.current(location, units);
      },
    },
    audit: {
      entries: plain.audit.entries,
      record: async (entry) => {
        await plain.audit.record(entry);
        await atWork('audit');
      },
    },
  };
  const state = requestStatePolicy({ keys: [randomBytes(32)], legacy: 'shim' });
  const running = option.create({ world, state });
  const http = hosting === 'http' ? await serveHttp(running, { drainSeconds: 0.005 }) : undefined;
  const local = host('memory', () => running);
  onTestFinished(async () => {
    work?.release.open();
    await http?.close();
    await local.close();
  });
  const shared: Hosting = {
    instances: local.instances,
    endpoint: http ? () => ({ kind: 'http', url: http.url }) : local.endpoint,
    framesHeld: local.framesHeld,
    close: async () => {},
  };

  return {
    start: async (client: ClientKind, tool: Tool, signal?: AbortSignal): Promise<Conversation> => {
      const call = { method: 'tools/call', params: CALLS[tool] } as const;
      const conversation = await Conversation.start({ client, call, signal }, () => shared);
      onTestFinished(async () => void (await conversation.close()));
      return conversation;
    },
    framesHeld: local.framesHeld,
    written: () => ({ audits: world.audit.entries.length, writes: world.items.writes.length }),
  };
}

/** How a call ended: one word, or its error's message. Undefined while it asks. */
export const ending = (end: End | undefined): string | undefined =>
  end?.error?.message ?? (end?.result && (end.result.isError ? 'error result' : 'result'));
