/** A server with tools on one store, and a client inside of the same process. */
import { type AuthInfo, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { protectedServer, type RequestStatePolicy, textResult } from '@mrtr/core';
import { type LinearContext, type LinearStore, linear } from '@mrtr/shapes/linear';
import { z } from 'zod';

/** What came of one request. `state` is sealed. */
export interface Outcome {
  readonly asks?: Readonly<Record<string, string>>;
  readonly state?: string;
  readonly says?: string;
  readonly fails?: string;
  readonly rejects?: string;
}

/** One request. */
export interface Sent {
  readonly name?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string | undefined;
  readonly principal?: string;
}

/** An effect of the order of `item`. */
export interface Wanted {
  readonly item: string;
  readonly effect: string;
  readonly key: string;
  readonly detail: string;
}

/** Performs an effect elsewhere, once for each key. */
export type Effect = (wanted: Wanted) => Promise<string>;

/** The next request after `asked`, which accepts its one question with `content`. */
export function answering(asked: Outcome, content: Readonly<Record<string, string>>): Sent {
  const [key = ''] = Object.keys(asked.asks ?? {});
  return { inputResponses: { [key]: { action: 'accept', content } }, requestState: asked.state };
}

const Order = z.object({ item: z.string() });
const Count = z.object({ count: z.string() });
const Address = z.object({ address: z.string() });

const tools = (effect: Effect) => {
  /** Reserves, asks how many, charges, asks where to, ships. */
  async function order({ item }: z.infer<typeof Order>, ctx: LinearContext) {
    const step = (name: string, detail: string) =>
      ctx.run(name, () => effect({ item, effect: name, key: ctx.idempotencyKey(name), detail }));
    const ticket = await step('reserve', item);
    const { count } = await ctx.elicit(`How many of ${item}?`, Count);
    const receipt = await step('charge', `${count} ${item}`);
    const { address } = await ctx.elicit(`Where to, for ${receipt}?`, Address);
    const parcel = await step('ship', `to ${address}`);
    return textResult(`${ticket}, ${receipt}, ${parcel}`);
  }

  /** Fails in a step, and after a question. */
  async function failing({ item }: z.infer<typeof Order>, ctx: LinearContext) {
    const fails = async () => {
      throw Object.assign(new Error(`No ${item} left.`), { shelf: item });
    };
    const caught = await ctx.run('look', fails).catch((error: Error) => error);
    const { count } = await ctx.elicit('How many?', Count);
    throw Object.assign(caught as Error, { message: `${(caught as Error).message} Not even ${count}.` });
  }

  /** Takes a step that is named after this process: run again elsewhere, it does not do what it did. */
  async function fickle(_args: z.infer<typeof Order>, ctx: LinearContext) {
    await ctx.run(`by ${process.pid}`, () => process.pid).catch(() => 'swallowed');
    const { count } = await ctx.elicit('How many?', Count);
    return textResult(`${count} by ${process.pid}`);
  }

  /** Asks nothing. */
  const silent = async () => textResult('nothing');

  return [order, failing, fickle, silent] as const;
};

/** The site. Its `send` never rejects. */
export class Site {
  readonly #clients = new Map<string, Promise<Client>>();
  readonly #handler: ReturnType<typeof createMcpHandler>;

  constructor(store: LinearStore, policy: RequestStatePolicy, effect: Effect) {
    const offered = tools(effect);
    this.#handler = createMcpHandler(() => {
      const server = protectedServer({ name: 'linear-dbos-test', version: '0.0.0' }, policy);
      for (const tool of offered)
        server.registerTool(
          tool.name,
          { inputSchema: Order },
          linear(tool as (typeof offered)[0], { store }),
        );
      return server;
    });
  }

  async send({ principal = '', ...params }: Sent, signal?: AbortSignal): Promise<Outcome> {
    const client = this.#clients.get(principal) ?? this.#connect(principal);
    this.#clients.set(principal, client);
    const request = { name: 'order', arguments: { item: 'tea' }, ...params };
    const options = { allowInputRequired: true, ...(signal && { signal }) } as const;
    try {
      return seen(await (await client).callTool(request as never, options));
    } catch (error) {
      return { rejects: (error as Error).message };
    }
  }

  async #connect(principal: string): Promise<Client> {
    const client = new Client(
      { name: 'linear-dbos-test-client', version: '0.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: { elicitation: {} } },
    );
    const authInfo: AuthInfo = { token: 't', clientId: 'app', scopes: [], extra: { sub: principal } };
    const fetch = (url: string | URL, init?: RequestInit) =>
      this.#handler.fetch(new Request(url, init), principal === '' ? {} : { authInfo });
    await client.connect(new StreamableHTTPClientTransport(new URL('http://linear.invalid/mcp'), { fetch }));
    return client;
  }
}

function seen(result: unknown): Outcome {
  const { inputRequests, requestState, content, isError } = result as Record<string, unknown>;
  if (inputRequests) {
    const asks = Object.entries(inputRequests as Record<string, { params: { message: string } }>);
    const state = requestState as string;
    return { asks: Object.fromEntries(asks.map(([key, { params }]) => [key, params.message])), state };
  }
  const text = (content as { text: string }[])[0]?.text ?? '';
  return isError ? { fails: text } : { says: text };
}
