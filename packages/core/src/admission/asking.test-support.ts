/** A tool, a prompt and a resource that ask once and keep a plan between the rounds. */
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { inputRequired } from '@modelcontextprotocol/server';
import { callerNamed } from '@mrtr/harness';
import { expect } from 'vitest';
import { z } from 'zod';
import { readAnswer } from '../answers/read-answer.ts';
import { elicitation } from '../questions/elicitation.ts';
import { textResult } from '../results.ts';
import type { Hosted, PostOptions } from './hosted.test-support.ts';
import type { LeaseDecision, LeaseRequest, StateLedger } from './ledger.ts';

/** The author's state between the rounds. A client must not read or write it. */
export const PLAN = 'plan: replace every replica at once';

export const sure = elicitation('Really deploy?', z.object({ sure: z.boolean() }));

export const YES = { sure: { action: 'accept', content: { sure: true } } };

/** Registers two tools, a prompt and a resource. `entries` collects the state that each entry of the handler reads. */
export const asking =
  (entries: (string | undefined)[] = [], plan = PLAN) =>
  (server: McpServer): void => {
    const ask = <R>(ctx: ServerContext, done: R) => {
      entries.push(ctx.mcpReq.requestState<string>());
      return readAnswer(ctx, 'sure', sure).kind === 'accepted'
        ? done
        : inputRequired({ inputRequests: { sure: sure.request }, requestState: plan });
    };
    const inputSchema = z.looseObject({});
    for (const tool of ['deploy', 'destroy']) {
      server.registerTool(tool, { inputSchema }, (_, ctx) => ask(ctx, textResult('Done.')));
    }
    server.registerPrompt('report', { argsSchema: z.object({ of: z.string() }) }, (_, ctx) =>
      ask(ctx, {
        messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Report.' } }],
      }),
    );
    server.registerResource('config', 'config://shop', {}, (uri, ctx) =>
      ask(ctx, { contents: [{ uri: uri.href, text: 'replicas: 3' }] }),
    );
  };

export const ARGUMENTS = { service: 'shop', replicas: 3 };

/** The first request of each method. */
export const CALLS = [
  ['tools/call', { name: 'deploy', arguments: ARGUMENTS }],
  ['prompts/get', { name: 'report', arguments: { of: 'shop' } }],
  ['resources/read', { uri: 'config://shop' }],
] as const;

/** The frozen answer to state that is rejected, for any reason. */
export const REJECTED = {
  error: {
    code: -32602,
    message: 'Invalid or expired requestState',
    data: { reason: 'invalid_request_state' },
  },
};

/** The answer to a retry of a token whose handler was entered and did not end properly. */
export const UNKNOWN = {
  isError: true,
  content: [{ type: 'text', text: expect.stringContaining('its outcome is unknown') }],
};

/** Begins a call of the tool `deploy`, and returns its retry without answers. */
export async function beginCall({ post }: Pick<Hosted, 'post'>, options?: PostOptions) {
  const call = { name: 'deploy', arguments: ARGUMENTS };
  const { result } = await post('tools/call', call, options);
  return { ...call, requestState: result?.requestState as string };
}

/** An authenticated user, as the SDK's bearer middleware passes one on. */
export const as = (sub: string): PostOptions => ({ authInfo: callerNamed(sub) });

/** The ledger `memory` with the methods in `changed` replaced. */
export const ledgerLike = (memory: StateLedger, changed: Partial<StateLedger>): StateLedger => ({
  lease: (presented) => memory.lease(presented),
  settle: (...settled) => memory.settle(...settled),
  release: (...released) => memory.release(...released),
  ...changed,
});

/** A ledger that decides with `lease`, and keeps nothing. */
export const ledgerThat = (lease: (presented: LeaseRequest) => unknown): StateLedger => ({
  lease: async (presented) => (await lease(presented)) as LeaseDecision,
  settle: async () => {},
  release: async () => {},
});
