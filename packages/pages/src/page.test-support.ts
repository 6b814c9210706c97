import {
  ask,
  protectedServer,
  type RequestStateOptions,
  readAnswer,
  requestStatePolicy,
  type ServerContext,
  textResult,
} from '@mrtr/core';
import { callerNamed, InProcess, type Posted } from '@mrtr/harness';
import { onTestFinished } from 'vitest';
import { MemoryInteractions } from './memory-interactions.ts';
import { type PendingInteractionsOptions, pendingInteractions } from './pending-interactions.ts';
import type { InteractionStore } from './store.ts';

const PAGES = { elicitation: { url: {} } };
export const SIGNED_IN = { headers: { 'x-user': 'ada' } };
/** A press on the button of the start page. */
export const GO_ON = { method: 'POST', headers: { ...SIGNED_IN.headers, origin: 'https://shop.example' } };

type Method = keyof InteractionStore;

/** A store in memory. Calls `before` ahead of each request, which may make it fail. */
export function hookedStore(before: (method: Method, args: readonly unknown[]) => unknown): InteractionStore {
  const store = new MemoryInteractions();
  const hook =
    (method: Method) =>
    async (...args: unknown[]) => {
      await before(method, args);
      return Reflect.apply(store[method], store, args);
    };
  return { add: hook('add'), find: hook('find'), replace: hook('replace') };
}

/** A store whose `method` fails from its `at`th call on. */
export function failingStore(method: Method, at: number, error = new Error('The store is gone.')) {
  let left = at;
  return hookedStore((one) => {
    if (one === method && --left <= 0) throw error;
  });
}

/** The first link in a text, or in a result. */
export const linkIn = (text: unknown): string => /https:[^\s"\\]+/.exec(JSON.stringify(text))?.[0] ?? '';

type Asked = { inputRequests: Readonly<Record<string, { params: object }>>; requestState: string };

type Pages = Partial<PendingInteractionsOptions<string>>;
type Tool = (ctx: ServerContext) => Promise<ReturnType<typeof textResult> | ReturnType<typeof ask>>;

/** A server of one tool, on a clock that the test sets. A header names the user of the pages' browser. */
export function hostTool(tool: Tool, options: RequestStateOptions = {}) {
  const clock = { now: 1_800_000_000_000 };
  const errors: string[] = [];
  const policy = requestStatePolicy({
    keys: ['k'.repeat(32)],
    singleUse: false,
    ttlSeconds: 3600,
    now: () => clock.now,
    principal: ({ http }) => http?.authInfo?.extra?.sub as string | undefined,
    onerror: ({ message }) => errors.push(message),
    ...options,
  });
  const site = new InProcess(() => {
    const server = protectedServer({ name: 'shop', version: '1.0.0' }, policy);
    server.registerTool('link', {}, tool);
    return server;
  });
  onTestFinished(() => site.close());
  const call = (
    params: object = {},
    caller: string | undefined = 'ada',
    capabilities: object = PAGES,
  ): Promise<Posted> =>
    site.post(
      'tools/call',
      { name: 'link', arguments: {}, ...params },
      { capabilities, ...(caller !== '' && { authInfo: callerNamed(caller) }) },
    );
  /** A call that asks, the page of its first question, and a retry that answers every question alike. */
  const asking = async (capabilities?: object) => {
    const { result } = await call({}, 'ada', capabilities);
    const { inputRequests, requestState } = result as unknown as Asked;
    const retry = (action = 'accept', capable = capabilities) => {
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action }]));
      return call({ requestState, inputResponses }, 'ada', capable);
    };
    return { params: Object.values(inputRequests)[0]?.params, page: linkIn(inputRequests), retry };
  };
  const pageAt = (path: string, over: Pages = {}) =>
    pendingInteractions<string>({
      policy,
      url: `https://shop.example${path}`,
      identifyBrowser: ({ headers }) => headers.get('x-user') ?? undefined,
      start: ({ state, callbackUrl }) => `${callbackUrl}?state=${state}&code=c`,
      finish: () => 'linked',
      waitSeconds: 0,
      onerror: ({ message }) => errors.push(message),
      ...over,
    });
  return { clock, call, asking, pageAt, errors, policy };
}

/** A server whose tool waits for a page, and the page itself. */
export function hostWithPage(
  over: Pages = {},
  options: RequestStateOptions = {},
  about = (): readonly [words: string, data: unknown] => ['Link it.', { sum: 5 }],
) {
  const site = hostTool(async (ctx) => {
    const [words, data] = about();
    const question = await link.question(ctx, words, { data });
    const answer = readAnswer(ctx, 'link', question);
    if (answer.kind === 'accepted') return textResult(answer.value);
    return answer.kind === 'declined' ? textResult('declined') : ask({ link: question });
  }, options);
  const link = site.pageAt('/link', over);
  const open = (url: string, init: RequestInit = SIGNED_IN) => link.fetch(new Request(url, init));
  return { ...site, link, open };
}
