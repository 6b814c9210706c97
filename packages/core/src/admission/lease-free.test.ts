/** Targets whose shape serves each token once by itself: the ledger gives no lease for them, and for no other. */
import {
  inputRequired,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ledgerLike } from './asking.test-support.ts';
import { eventsOf, hostTools } from './hosted.test-support.ts';
import { MemoryLedger } from './ledger.ts';
import { shapeCallback } from './shape-callback.ts';

type Callback = () => never;

/** `own` serves tokens once by itself; `plain` is the author's. */
interface Callbacks {
  readonly own: Callback;
  readonly plain: Callback;
}

/** A result that fits each of the three methods. */
const DONE = { content: [], messages: [], contents: [] };

/** Both callbacks ask in a first round. `entered` lists their entries. */
function siteOf(register: (server: McpServer, callbacks: Callbacks) => void) {
  const entered: string[] = [];
  const serve = async (who: string, ctx: ServerContext) => {
    entered.push(who);
    return ctx.mcpReq.requestState() === undefined ? inputRequired({ requestState: 'asked' }) : DONE;
  };
  const own = shapeCallback({ name: 'own', servesTokensOnce: true }, (_, ctx) => serve('own', ctx) as never);
  const plain = (...args: unknown[]) => serve('plain', args.at(-1) as ServerContext);
  let leases = 0;
  const memory = new MemoryLedger();
  const lease: MemoryLedger['lease'] = (presented) => {
    leases++;
    return memory.lease(presented);
  };
  const callbacks = { own, plain } as never;
  const site = hostTools((server) => register(server, callbacks), { ledger: ledgerLike(memory, { lease }) });
  return { ...site, entered, leases: () => leases };
}

const URI = 'http://shop.example/7';
const ELSEWHERE = 'http://other.example/';
const template = (uri = 'http://shop.example/{id}') => new ResourceTemplate(uri, { list: undefined });

type Updates = Readonly<Record<string, unknown>>;
type Registered = Record<string, unknown> & { update(updates: Updates): void; remove(): void };
type Register = (callback: Callback, name?: string) => Registered;

/** A kind of target. `entry`: the member that the SDK calls. `renaming`: the update that gives it another name. */
interface Kind {
  readonly request: readonly [method: string, params: Readonly<Record<string, string>>];
  readonly entry: string;
  readonly renaming: (name?: string) => Updates;
  readonly registerOn: (server: McpServer) => Register;
}
const byName = (name = 'pay') => ({ name });
const TOOL: Kind['request'] = ['tools/call', { name: 'pay' }];
const RESOURCE: Kind['request'] = ['resources/read', { uri: URI }];

const KINDS: Readonly<Record<string, Kind>> = {
  tool: {
    request: TOOL,
    entry: 'executor',
    renaming: byName,
    registerOn:
      (server) =>
      (callback, name = 'pay') =>
        server.registerTool(name, {}, callback) as never,
  },
  prompt: {
    request: ['prompts/get', { name: 'pay' }],
    entry: 'handler',
    renaming: byName,
    registerOn:
      (server) =>
      (callback, name = 'pay') =>
        server.registerPrompt(name, {}, callback) as never,
  },
  resource: {
    request: RESOURCE,
    entry: 'readCallback',
    renaming: (uri = URI) => ({ uri }),
    registerOn:
      (server) =>
      (callback, uri = URI) =>
        server.registerResource('pay', uri, {}, callback) as never,
  },
  template: {
    request: RESOURCE,
    entry: 'readCallback',
    // A template that has only another name still matches.
    renaming: (name = 'pay') => ({ name, template: template(name === 'pay' ? undefined : name) }),
    registerOn:
      (server) =>
      (callback, name = 'pay') =>
        server.registerResource(name, template(), {}, callback) as never,
  },
};

type Setup = (register: Register, callbacks: Callbacks, kind: Kind) => void;
type Case = readonly [
  what: string,
  request: Kind['request'],
  (server: McpServer, callbacks: Callbacks) => void,
];

const wrap =
  (callback: Callback) =>
  (...args: unknown[]) =>
    (callback as (...args: unknown[]) => never)(...args);

/** The setups of each kind: 4 × 5 and 4 × 9 cases. */
const casesOf = (setups: Readonly<Record<string, Setup>>): Case[] =>
  Object.entries(KINDS).flatMap(([name, kind]) =>
    Object.entries(setups).map(
      ([what, setUp]): Case => [
        `a ${name} ${what}`,
        kind.request,
        (server, callbacks) => setUp(kind.registerOn(server), callbacks, kind),
      ],
    ),
  );

const UNLEASED = casesOf({
  'registered with a shape': (register, { own }) => void register(own),
  'updated to a shape': (register, { own, plain }) => register(plain).update({ callback: own }),
  'with another name': (register, { own }, { renaming }) => register(own, ELSEWHERE).update(renaming()),
  'in the place of a removed one': (register, { own, plain }) => {
    register(plain).remove();
    register(own);
  },
  'that was disabled for a while': (register, { own }) => {
    const registered = register(own);
    for (const enabled of [false, true]) registered.update({ enabled, title: 'Pay' });
  },
});

const LEASED = casesOf({
  'of the author': (register, { plain }) => void register(plain),
  'updated to a callback of the author': (register, { own, plain }) =>
    register(own).update({ callback: plain }),
  'in the place of a removed shape': (register, { own, plain }) => {
    register(own).remove();
    register(plain);
  },
  'in the place of a renamed shape': (register, { own, plain }, { renaming }) => {
    register(own).update(renaming(ELSEWHERE));
    register(plain);
  },
  'renamed to the name of a shape': (register, { own, plain }, { renaming }) => {
    register(own);
    register(plain, ELSEWHERE).update(renaming());
  },
  'with a wrapped shape': (register, { own }) => void register(wrap(own) as never),
  'with the members of a shape': (register, { own, plain }) =>
    void register(Object.assign(wrap(plain), own) as never),
  'with a proxy of a shape': (register, { own }) => void register(new Proxy(own, {})),
  'with an assigned member': (register, { own, plain }, { entry }) => {
    const registered = register(own);
    registered[entry] = wrap(plain);
    registered.update({ title: 'Pay' });
  },
});

/** As the SDK resolves a URI, and as it makes a new function for another schema. */
const ALSO_UNLEASED: readonly Case[] = [
  [
    'a tool with another schema',
    TOOL,
    (server, { own }) => server.registerTool('pay', {}, own).update({ paramsSchema: z.object({}) }),
  ],
  [
    'a resource before a template of the author',
    RESOURCE,
    (server, { own, plain }) => {
      server.registerResource('any', template(), {}, plain);
      server.registerResource('pay', URI, {}, own);
    },
  ],
  [
    'the first template that matches',
    RESOURCE,
    (server, { own, plain }) => {
      server.registerResource('other', template(`${ELSEWHERE}{id}`), {}, plain);
      server.registerResource('pay', template(ELSEWHERE), {}, own).update({ template: template() });
      server.registerResource('later', template(), {}, plain);
    },
  ],
  [
    'a URI in another spelling',
    ['resources/read', { uri: 'HTTP://SHOP.example:80/7' }],
    (server, { own }) => void server.registerResource('pay', URI, {}, own),
  ],
];

const ALSO_LEASED: readonly Case[] = [
  // The SDK forgets the first name of a tool when it gets another, and of nothing else.
  ...(['prompt', 'resource'] as const).map((name): Case => {
    const { request, registerOn, renaming } = KINDS[name] as Kind;
    const renameBack: Case[2] = (server, { own, plain }) => {
      const register = registerOn(server);
      const renamed = register(own);
      renamed.update(renaming(ELSEWHERE));
      register(plain);
      renamed.update(renaming());
    };
    return [
      `a ${name} in the place of a shape whose first name the SDK does not give back`,
      request,
      renameBack,
    ];
  }),
  [
    'a template with another name, which the SDK removes under its first name',
    RESOURCE,
    (server, { own, plain }) => {
      const renamed = server.registerResource('pay', template(), {}, plain);
      renamed.update({ name: 'other' });
      server.registerResource('pay', template(), {}, own);
      renamed.remove();
    },
  ],
  [
    'a template of the author before one of a shape',
    RESOURCE,
    (server, { own, plain }) => {
      server.registerResource('pay', template(), {}, plain);
      server.registerResource('later', template(), {}, own);
    },
  ],
  [
    'a resource of the author before a template of a shape',
    RESOURCE,
    (server, { own, plain }) => {
      server.registerResource('any', template(), {}, own);
      server.registerResource('pay', URI, {}, plain);
    },
  ],
  [
    'a low-level handler',
    TOOL,
    (server, { own }) => {
      server.registerTool('pay', {}, own);
      server.server.setRequestHandler('tools/call', (_, ctx) => wrap(own)(ctx));
    },
  ],
];

/** Makes the call, and sends its retry twice. */
async function callTwice([, [method, params], register]: Case) {
  const site = siteOf(register);
  const { result } = await site.post(method, params);
  expect(result?.resultType).toBe('input_required');
  const retry = { ...params, requestState: result?.requestState };
  const replies = [await site.post(method, retry), await site.post(method, retry)];
  for (const reply of replies) expect(reply.result).toMatchObject({ resultType: 'complete' });
  return site;
}

test.each([...UNLEASED, ...ALSO_UNLEASED])('no lease, and each retry, for %s', async (...unleased) => {
  const { entered, leases } = await callTwice(unleased);
  expect([entered, leases()]).toEqual([['own', 'own', 'own'], 0]);
});

test.each([...LEASED, ...ALSO_LEASED])('a lease, and one retry, for %s', async (...leased) => {
  const { entered, leases } = await callTwice(leased);
  expect([entered.length, leases()]).toEqual([2, 2]);
});

test('a target that was removed meanwhile is leased, and rejected', async () => {
  let isRemoved = false;
  const { entered, leases, post } = siteOf((server, { own }) => {
    const registered = server.registerTool('pay', {}, own);
    server.registerTool('other', {}, own);
    if (isRemoved) registered.remove();
  });
  const { result } = await post('tools/call', { name: 'pay' });
  isRemoved = true;
  expect(await post('tools/call', { name: 'pay', requestState: result?.requestState })).toMatchObject({
    error: { code: -32602, message: 'Tool pay not found' },
  });
  expect([entered, leases()]).toEqual([['own'], 1]);
});

test('a callback of the author that replaces a shape while the arguments are checked is not entered without a lease', async () => {
  const handlers = eventsOf('mrtr:handler');
  let isReplaced = false;
  const { entered, leases, post } = siteOf((server, { own, plain }) => {
    const inputSchema = z.object({}).refine(async () => {
      if (isReplaced) registered.update({ callback: plain });
      return true;
    });
    const registered = server.registerTool('pay', { inputSchema }, own);
  });
  const { result } = await post('tools/call', { name: 'pay' });
  isReplaced = true;
  const again = await post('tools/call', { name: 'pay', requestState: result?.requestState });
  const text = 'The server was changed while this request came in. Nothing of it has run. Send it again.';
  expect(again.result).toMatchObject({ isError: true, content: [{ type: 'text', text }] });
  expect([entered, leases(), handlers]).toEqual([['own'], 0, []]);
});
