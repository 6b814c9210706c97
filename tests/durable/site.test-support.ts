/** A server with tools on one store, and its clients, in the same process or over HTTP. */
import { type AuthInfo, type CallToolResult, createMcpHandler } from '@modelcontextprotocol/server';
import {
  elicitation,
  protectedServer,
  type RequestStatePolicy,
  requestStatePolicy,
  textResult,
  urlElicitation,
} from '@mrtr/core';
import { readPosted, requestInit } from '@mrtr/harness/internal';
import { type PendingInteractions, pendingInteractions } from '@mrtr/pages';
import type { InteractionStore } from '@mrtr/pages/store';
import { type LinearContext, type LinearStore, linear } from '@mrtr/shapes/linear';
import { z } from 'zod';
import type { Wanted } from './shop.test-support.ts';

/** A client's result of one request. `state` is sealed. */
export interface RoundSummary {
  readonly asks?: Readonly<Record<string, string>>;
  /** The page that the one question asks to open. */
  readonly page?: string;
  readonly state?: string;
  readonly says?: string;
  readonly fails?: string;
  readonly rejects?: string;
}

export interface Sent {
  readonly name?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string | undefined;
  readonly principal?: string;
}

export interface Trade {
  /** Performs an effect outside of the instance, once per key. */
  readonly effect: (wanted: Wanted) => Promise<string>;
  /** Called for every run of the handler, even a repeated one. */
  readonly entered?: (item: string, code: string) => void;
  /** The version of the code, which the questions name. Default '1'. */
  readonly code?: string;
  /** The page that `linked` sends its user to. */
  readonly link?: PendingInteractions<string>;
}

const reject = async () => {
  throw new Error('A tool on a DbosStore was leased.');
};

/** A ledger that fails: no tool on a `DbosStore` may ask it. */
export const UNASKED = { lease: reject, settle: reject, release: reject };

/** The policy of the instances. It names a caller as the pages name a browser. */
export const policyOf = (keys: readonly string[]): RequestStatePolicy =>
  requestStatePolicy({ keys, ledger: UNASKED, principal: ({ http }) => nameIn(http?.authInfo) });

const nameIn = (authInfo: AuthInfo | undefined) => authInfo?.extra?.sub as string | undefined;

/** A page on the store of a deployment. A header names the user of a browser. */
export const pageOn = (store: InteractionStore, policy: RequestStatePolicy): PendingInteractions<string> =>
  pendingInteractions<string>({
    policy,
    store,
    url: 'https://shop.example/link',
    waitSeconds: 0,
    identifyBrowser: ({ headers }) => headers.get('x-user') ?? undefined,
    start: ({ state, callbackUrl }) => `${callbackUrl}?state=${state}`,
    finish: ({ principal }) => `the account of ${principal}`,
  });

/** The next request after `asked`. It accepts the one question, with `content` or to open a page. */
export function answering(asked: RoundSummary, content?: Readonly<Record<string, string>>): Sent {
  const [key = ''] = Object.keys(asked.asks ?? {});
  return { inputResponses: { [key]: { action: 'accept', content } }, requestState: asked.state };
}

const Order = z.object({ item: z.string() });
const Count = z.object({ count: z.string() });
const Address = z.object({ address: z.string() });

const tools = ({ effect, entered, code = '1', link }: Trade) => {
  const by = code === '1' ? '' : ` (${code})`;
  const wanted = (item: string, name: string, detail: string, ctx: LinearContext) =>
    effect({ item, effect: name, key: ctx.idempotencyKey(name), detail, code });

  /** Reserves, asks how many, charges, asks where to, ships. */
  async function order({ item }: z.infer<typeof Order>, ctx: LinearContext, ponder = async () => {}) {
    entered?.(item, code);
    const step = (name: string, detail: string) => ctx.once(name, () => wanted(item, name, detail, ctx));
    const ticket = await step('reserve', item);
    const { count } = await ctx.elicit(`How many of ${item}?${by}`, Count);
    const receipt = await step('charge', `${count} ${item}`);
    await ponder();
    const { address } = await ctx.elicit(`Where to, for ${receipt}?${by}`, Address);
    const parcel = await step('ship', `to ${address}`);
    return textResult(`${ticket}, ${receipt}, ${parcel}`);
  }

  /** Orders, and also computes between the questions, outside of any step. */
  const pondering = (args: z.infer<typeof Order>, ctx: LinearContext) =>
    order(args, ctx, async () => {
      await effect({
        item: args.item,
        effect: 'ponder',
        key: ctx.idempotencyKey('ponder'),
        detail: '',
        code,
      });
    });

  async function curious({ item }: z.infer<typeof Order>, ctx: LinearContext) {
    for (let times = 1; ; times++) await ctx.elicit(`How many of ${item}, for the ${times}. time?`, Count);
  }

  async function thorough({ item }: z.infer<typeof Order>, ctx: LinearContext) {
    const { count } = await ctx.elicit(`How many of ${item}?`, Count);
    const each = Array.from({ length: Number(count) }, (_, at) => [
      `q${at}`,
      elicitation('Where to?', Address),
    ]);
    return textResult(Object.keys(await ctx.ask(Object.fromEntries(each))).join());
  }

  async function failing({ item }: z.infer<typeof Order>, ctx: LinearContext) {
    const fails = async () => {
      throw Object.assign(new Error(`No ${item} left.`), { shelf: item });
    };
    const caught = await ctx.once('look', fails).catch((error: Error) => error);
    const { count } = await ctx.elicit('How many?', Count);
    throw Object.assign(caught as Error, { message: `${(caught as Error).message} Not even ${count}.` });
  }

  /** Takes a step named after this process, so that a run in another process takes another step. */
  async function fickle(_args: z.infer<typeof Order>, ctx: LinearContext) {
    await ctx.once(`by ${process.pid}`, () => process.pid).catch(() => 'swallowed');
    const { count } = await ctx.elicit('How many?', Count);
    return textResult(`${count} by ${process.pid}`);
  }

  /** Asks in words that name this process, and without a key. */
  async function reworded({ item }: z.infer<typeof Order>, ctx: LinearContext) {
    const { count } = await ctx.elicit(`How many of ${item}, asks ${process.pid}?`, Count);
    return textResult(`${count} ${item}`);
  }

  /** Sends the user to the terms, and then to a page to finish. */
  async function linked({ item }: z.infer<typeof Order>, ctx: LinearContext) {
    entered?.(item, code);
    await ctx.ask('terms', urlElicitation('Read the terms first.', 'https://shop.example/terms'));
    const account = await link?.ask(ctx, 'link', 'Link your account.');
    return textResult(`${item} for ${account}`);
  }

  /** Names the caller of each round. */
  async function signedIn(_args: z.infer<typeof Order>, ctx: LinearContext) {
    const first = ctx.caller;
    await ctx.elicit('How many?', Count);
    return textResult(JSON.stringify([first, ctx.caller]));
  }

  const silent = async () => textResult('nothing');

  const named = { order, pondering, curious, thorough, failing, fickle, reworded, linked, signedIn, silent };
  return Object.entries(named) as unknown as [
    string,
    (args: z.infer<typeof Order>, ctx: LinearContext) => Promise<CallToolResult>,
  ][];
};

/** A server on a store, and its clients in the same process. */
export class StoreServer {
  readonly #store: Pick<LinearStore, 'runRound'>;
  readonly #policy: RequestStatePolicy;
  readonly #tools: ReturnType<typeof tools>;
  readonly #handler = createMcpHandler(() => this.server());
  /** The scopes of the callers of further requests. */
  scopes: string[] = [];

  constructor(store: Pick<LinearStore, 'runRound'>, policy: RequestStatePolicy, trade: Trade) {
    this.#store = store;
    this.#policy = policy;
    this.#tools = tools(trade);
  }

  server() {
    const server = protectedServer({ name: 'linear-dbos-test', version: '0.0.0' }, this.#policy);
    for (const [name, tool] of this.#tools)
      server.registerTool(name, { inputSchema: Order }, linear(tool, { store: this.#store as LinearStore }));
    return server;
  }

  send({ principal = '', ...sent }: Sent): Promise<RoundSummary> {
    const extra = { sub: principal, number: 7n };
    const authInfo: AuthInfo = { token: 't', clientId: 'app', scopes: this.scopes, extra };
    return outcomeOf(sent, (init) =>
      this.#handler.fetch(
        new Request('http://linear.invalid/mcp', init),
        principal === '' ? {} : { authInfo },
      ),
    );
  }
}

/** Makes a request, and resolves with the client's result. Never rejects. */
export async function outcomeOf(
  sent: Omit<Sent, 'principal'>,
  fetch: (init: RequestInit) => Promise<Response>,
): Promise<RoundSummary> {
  const params = { name: 'order', arguments: { item: 'tea' }, ...sent };
  const capabilities = { elicitation: { form: {}, url: {} } };
  try {
    const { result, error } = await readPosted(
      await fetch(requestInit('tools/call', params, { capabilities })),
    );
    return result ? seen(result) : { rejects: error?.message ?? 'There was no answer.' };
  } catch (error) {
    return { rejects: (error as Error).message };
  }
}

function seen({
  inputRequests,
  requestState,
  content,
  isError,
}: Readonly<Record<string, unknown>>): RoundSummary {
  if (inputRequests) {
    const asks = Object.entries(
      inputRequests as Record<string, { params: { message: string; url?: string } }>,
    );
    const state = requestState as string;
    const page = asks[0]?.[1].params.url;
    return {
      asks: Object.fromEntries(asks.map(([key, { params }]) => [key, params.message])),
      state,
      ...(page !== undefined && { page }),
    };
  }
  const text = (content as { text: string }[])[0]?.text ?? '';
  return isError ? { fails: text } : { says: text };
}
