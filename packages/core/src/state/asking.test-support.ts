/** A tool, a prompt and a resource that ask once and keep a plan between the rounds. */
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { readAnswer } from '../answer.ts';
import { elicitation } from '../elicitation.ts';
import type { PostOptions } from '../hosted.test-support.ts';
import { textResult } from '../results.ts';
import { inputRequired } from '../wire.ts';

/** What the author keeps between the rounds, and nobody else shall read or write. */
export const PLAN = 'plan: replace every replica at once';

export const sure = elicitation('Really deploy?', z.object({ sure: z.boolean() }));

export const YES = { sure: { action: 'accept', content: { sure: true } } };

/** Registers all three; `entries` collects the state that each entry into the author's code was given. */
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

/** The three requests, before anything was asked. */
export const CALLS = [
  ['tools/call', { name: 'deploy', arguments: ARGUMENTS }],
  ['prompts/get', { name: 'report', arguments: { of: 'shop' } }],
  ['resources/read', { uri: 'config://shop' }],
] as const;

/** The frozen answer to any state that is not accepted, for whatever reason. */
export const REJECTED = {
  error: {
    code: -32602,
    message: 'Invalid or expired requestState',
    data: { reason: 'invalid_request_state' },
  },
};

/** An authenticated user, as the SDK's bearer middleware passes one on. */
export const as = (sub: string): PostOptions => ({
  authInfo: { token: `token-of-${sub}`, clientId: 'app', scopes: [], extra: { sub } },
});
