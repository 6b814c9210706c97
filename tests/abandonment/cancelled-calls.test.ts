/** Cancelled calls of shape H whose handlers do not end, over real HTTP, by real clients of both eras. */
import { once } from 'node:events';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { protectedServer, requestStatePolicy, textResult } from '@mrtr/core';
import { Units } from '@mrtr/example-tools';
import { Deferred, legacyClient, modernClient, settle } from '@mrtr/harness';
import { type HttpOptions, serveHttp } from '@mrtr/hosting/http';
import { ContinuationStore, type LinearContext, linear } from '@mrtr/shapes/linear';
import { expect, onTestFinished, test } from 'vitest';

type Handler = (args: unknown, ctx: LinearContext) => Promise<never>;

/** Asks once, swallows the refusal, and waits for ever. */
const waits: Handler = async (_args, ctx) => {
  await ctx.elicit('Which units?', Units).catch(() => {});
  return new Promise(() => {});
};

/** Asks again whatever happens. */
const asks: Handler = async (_args, ctx) => {
  for (;;) await ctx.elicit('Which units?', Units).catch(() => {});
};

/** Serves `handler` as the tool `hangs`: it is entered, and begins when its call is cancelled. */
async function serve(handler: Handler, options: HttpOptions) {
  const store = new ContinuationStore({ onerror: () => {} });
  const policy = requestStatePolicy({ keys: ['k'.repeat(32)], singleUse: false });
  let entered = new Deferred();
  const http = await serveHttp(
    {
      server() {
        const server = protectedServer({ name: 'hanging', version: '1.0.0' }, policy);
        const tool = linear(
          async (args: unknown, ctx) => {
            entered.open();
            await once(ctx.signal, 'abort');
            return handler(args, ctx);
          },
          { store },
        );
        server.registerTool('hangs', {}, (ctx) => tool({}, ctx));
        server.registerTool('works', {}, () => textResult('Done.'));
        return server;
      },
      // Its handlers never end, so closing it would take ten seconds.
      close: async () => {},
    },
    { drainMs: 5, ...options },
  );
  onTestFinished(() => http.close());
  const nextEntry = () => {
    entered = new Deferred();
    return entered.promise;
  };
  return { url: http.url, nextEntry };
}

const CLIENTS = {
  new: async (url: URL) => {
    const client = await modernClient(new StreamableHTTPClientTransport(url));
    return {
      client,
      call: (name: string, signal?: AbortSignal) => client.callTool({ name }, { ...(signal && { signal }) }),
    };
  },
  old: async (url: URL) => {
    const client = await legacyClient(new OldTransport(url) as Transport);
    const call = (name: string, signal?: AbortSignal) =>
      client.callTool({ name }, undefined, { ...(signal && { signal }) });
    return { client, call };
  },
};

test.each([
  ['new', 'waits for ever', waits, 3],
  ['old', 'waits for ever', waits, 3],
  // Such handlers end by themselves, so they need no more room than for one.
  ['new', 'asks for ever', asks, 10],
  ['old', 'asks for ever', asks, 10],
] as const)(
  'calls of a %s client that it cancels do not lock a server whose handler %s',
  async (era, _what, handler, calls) => {
    const maxAbandoned = handler === asks ? 1 : 3;
    const errors: string[] = [];
    const onerror = ({ message }: Error) => void errors.push(message);
    const { url, nextEntry } = await serve(handler, { maxCalls: 3, maxAbandoned, onerror });
    const { client, call } = await CLIENTS[era](url);
    onTestFinished(() => client.close());
    const works = async () => {
      const result = await call('works').catch(() => undefined);
      return JSON.stringify(result?.content ?? '').includes('Done.');
    };
    for (let n = 0; n < calls; n++) {
      const user = new AbortController();
      const entry = nextEntry();
      const cancelled = call('hangs', user.signal).catch(() => 'cancelled');
      await entry;
      user.abort();
      expect(await cancelled).toBe('cancelled');
      let worked = false;
      for (let again = 0; again < 1000 && !worked; again++) worked = await works();
      expect(worked).toBe(true);
      if (handler === asks) await settle(200);
    }
    expect(errors.filter((message) => message.includes('have not ended'))).toEqual([]);
  },
);
