/** How long one hostile request of one MiB keeps a server from serving anybody else. */
import type { ChildProcess } from 'node:child_process';
import type { Benchmark, Effort, Figure } from './benchmark.ts';
import { ask, start } from './child/program.ts';
import { quantile } from './statistics.ts';
import { headersFor } from './subject/call.ts';
import { type HostileBody, hostileBodies } from './subject/hostile-bodies.ts';

const TIMES: Readonly<Record<Effort['kind'], number>> = { quick: 1, full: 5, thorough: 11 };

const OLD = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'bench', version: '1' },
  },
};

async function post(url: string, headers: Record<string, string>, body: string): Promise<Response> {
  const response = await fetch(url, { method: 'POST', headers, body });
  await response.body?.cancel();
  return response;
}

/** The longest that the server was blocked by this body; the median of some times. */
async function blockedBy(child: ChildProcess, url: string, { where, old, body }: HostileBody, times: number) {
  const begun = old ? await post(url, OLD, JSON.stringify(INITIALIZE)) : undefined;
  const session = begun?.headers.get('mcp-session-id') ?? '';
  const begins = where.startsWith('an old initialize');
  const ofSession = begins ? {} : { 'mcp-session-id': session };
  const headers = old ? { ...OLD, ...ofSession } : headersFor('get_weather');
  const blocked: number[] = [];
  for (let time = 0; time < times; time++) {
    await ask<number>(child, 'blocked');
    // A refusal may close the connection while the body is still on its way.
    const ended = await post(url, headers, body).catch(() => undefined);
    blocked.push(await ask<number>(child, 'blocked'));
    const begunBy = begins && ended?.headers.get('mcp-session-id');
    if (begunBy) await fetch(url, { method: 'DELETE', headers: { ...OLD, 'mcp-session-id': begunBy } });
  }
  if (old) await fetch(url, { method: 'DELETE', headers: { ...OLD, 'mcp-session-id': session } });
  return quantile(blocked, 0.5);
}

export const blocking: Benchmark = {
  name: 'blocking',
  title: 'How long one hostile request of 1 MiB blocks the event loop',
  async run({ kind }) {
    const child = start('watched-server', ['g']);
    try {
      const url = await ask<string>(child, 'url');
      // What has never run is compiled first.
      for (const hostile of hostileBodies()) await blockedBy(child, url, hostile, 1);
      const worst = new Map<string, { ms: number; what: string }>();
      for (const hostile of hostileBodies()) {
        const ms = await blockedBy(child, url, hostile, TIMES[kind]);
        if (ms > (worst.get(hostile.where)?.ms ?? 0)) worst.set(hostile.where, { ms, what: hostile.what });
      }
      const figures = [...worst].map(
        ([where, { ms, what }]): Figure => ({
          what: `${where}: the worst is ${what}`,
          unit: 'ms',
          value: ms,
          goal: { most: 50 },
        }),
      );
      return {
        figures,
        notes: ['The median of some requests each; the worst of what can stand at that place.'],
      };
    } finally {
      child.disconnect();
    }
  },
};
