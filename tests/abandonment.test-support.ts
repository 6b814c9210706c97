/** A deployment whose clients leave: real ones, on either hosting, with a clock and gates in the test's hands. */
import { randomBytes } from 'node:crypto';
import { type ElicitResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as OldTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  requestStatePolicy,
} from '@mrtr/core';
import { type Gate, InProcess, legacyClient, modernClient } from '@mrtr/harness';
import { serveHttp } from '@mrtr/hosting/http';
import type { Option } from '@mrtr/tools';
import { createWorld, GET_WEATHER, RESOLVE_WORK_ITEM, type World } from '@mrtr/tools';
import { onTestFinished } from 'vitest';

export type HostingKind = 'memory' | 'http';

const CALLS = {
  weather: { name: GET_WEATHER, arguments: { location: 'Tokyo' } },
  item: { name: RESOLVE_WORK_ITEM, arguments: { id: 4522, state: 'Resolved' } },
} as const;

export const ANSWERS = {
  weather: { units: { action: 'accept', content: { units: 'metric' } } },
  item: { resolution: { action: 'accept', content: { resolution: 'Fixed' } } },
  duplicate: { resolution: { action: 'accept', content: { resolution: 'Duplicate' } } },
  original: { original: { action: 'accept', content: { original: 4301 } } },
} as const;

export type Tool = keyof typeof CALLS;
export type Result = CallToolResult | InputRequiredResult;

/** What the world waits for, if anything, and where: `reached` when a handler is there, `release` to let it go on. */
export interface Work {
  readonly at: 'audit' | 'weather';
  readonly reached: Gate;
  readonly release: Gate;
}

/** Runs `option`; everything is taken down when the test ends. */
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
  const http = hosting === 'http' ? await serveHttp(running, { drainMs: 5 }) : undefined;
  const site = new InProcess(() => running.server());
  onTestFinished(async () => {
    work?.release.open();
    await http?.close();
    await site.close();
    await running.close();
  });

  const modern = async (): Promise<ModernClient> => {
    const capabilities = { elicitation: {} };
    const client = http
      ? await modernClient(new StreamableHTTPClientTransport(http.url), { capabilities })
      : await site.modern({ capabilities });
    onTestFinished(() => client.close());
    return {
      call: async (tool, retry = {}, signal) =>
        (await client.callTool({ ...CALLS[tool], ...retry } as typeof CALLS.weather, {
          allowInputRequired: true,
          ...(signal && { signal }),
        })) as Result,
      close: () => client.close(),
    };
  };

  const old = async (elicit: () => Promise<ElicitResult>): Promise<OldestClient> => {
    const client = http
      ? await legacyClient(new OldHttpTransport(http.url) as OldTransport, { elicit })
      : await site.legacy({ elicit });
    onTestFinished(() => client.close());
    return {
      call: (tool, signal) => client.callTool({ ...CALLS[tool] }, undefined, signal && { signal }),
      close: () => client.close(),
    };
  };

  return {
    modern,
    old,
    framesHeld: () => running.framesHeld?.() ?? 0,
    written: () => ({ audits: world.audit.entries.length, writes: world.items.writes.length }),
  };
}

/** A client at 2026-07-28 whose rounds the test makes by hand. */
export interface ModernClient {
  call(tool: Tool, retry?: Retry, signal?: AbortSignal): Promise<Result>;
  close(): Promise<void>;
}

/** A client at 2025-11-25. */
export interface OldestClient {
  call(tool: Tool, signal?: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

export interface Retry {
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string | undefined;
}

/** The retry that answers `asked`. */
export function answering(asked: Result, inputResponses: Readonly<Record<string, unknown>>): Retry {
  if (!isInputRequiredResult(asked)) throw new Error(`Expected a question, got ${JSON.stringify(asked)}.`);
  const { requestState } = asked;
  return { inputResponses, ...(requestState !== undefined && { requestState }) };
}

/** How a call ended, in a word or its error's message. */
export const ending = (call: Promise<unknown>): Promise<string> =>
  call.then(
    (result) => ((result as CallToolResult).isError ? 'error result' : 'result'),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
