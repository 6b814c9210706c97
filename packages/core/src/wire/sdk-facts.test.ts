/**
 * Behaviour of the SDK that the boundary relies on and that the SDK does not document. If a new release changes it, a
 * test here names the change, before other tests fail for reasons that are harder to find.
 */
import {
  createRequestStateCodec,
  inputRequired,
  McpServer,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Hosted, hostServers, oldClient } from '../admission/hosted.test-support.ts';
import { textResult } from './results.ts';
import { MRTR_METHODS } from './wire.ts';

const INFO = { name: 'facts', version: '1.0.0' };
const MARK = Symbol.for('mrtr.facts');

type Handler = (request: { params?: Record<string, unknown> }, ctx: ServerContext) => unknown;

/** A server whose low-level handlers pass through `around`, as the boundary’s do. */
function serverAround(around: (method: string, handler: Handler) => Handler): McpServer {
  const server = new McpServer(INFO);
  const low = server.server;
  const original = low.setRequestHandler.bind(low) as (method: string, handler: Handler) => void;
  low.setRequestHandler = ((method: string, handler: Handler) => {
    original(method, around(method, handler));
  }) as typeof low.setRequestHandler;
  return server;
}

/** Registers a tool, a prompt and a resource, which all answer with `author`. */
function registerEach(server: McpServer, author: (ctx: ServerContext) => unknown, tool = {}): void {
  const handler = author as (ctx: ServerContext) => never;
  server.registerTool('t', tool, handler);
  server.registerPrompt('p', {}, handler);
  server.registerResource('r', 'r://r', {}, (_, ctx) => handler(ctx));
}

/** Calls each of them once, as a client of the era does. */
async function callEach(host: Hosted, era: string): Promise<void> {
  if (era === 'modern') {
    await host.post('tools/call', { name: 't' });
    await host.post('prompts/get', { name: 'p' });
    await host.post('resources/read', { uri: 'r://r' });
    return;
  }
  const client = await oldClient(host);
  await client.callTool({ name: 't' });
  await client.getPrompt({ name: 'p' });
  await client.readResource({ uri: 'r://r' });
}

const ANYTHING = { ...textResult(''), messages: [], contents: [] };
const noForm = z.object({});
const ODD_STATE = 'v1.~é\0\ufeff\r\n 😀 "%7E+/=';

test('registration on an McpServer calls setRequestHandler of that instance', () => {
  const methods: string[] = [];
  const server = serverAround((method, handler) => {
    methods.push(method);
    return handler;
  });
  registerEach(server, () => ANYTHING);
  expect(methods).toEqual([
    ...['tools/list', 'tools/call'],
    ...['prompts/list', 'prompts/get'],
    ...['resources/list', 'resources/templates/list', 'resources/read'],
  ]);
});

test('the wrapped handler sees the name and the arguments, and not the fields of a retry', async () => {
  const seen: unknown[] = [];
  const { post } = hostServers(() => {
    const server = serverAround((_, handler) => (request, ctx) => {
      seen.push(request.params);
      return handler(request, ctx);
    });
    server.registerTool('t', { inputSchema: z.looseObject({}) }, () => textResult(''));
    return server;
  });
  const retry = { inputResponses: {}, requestState: 'state' };
  await post('tools/call', { name: 't', arguments: { a: 1 }, ...retry });
  expect(seen).toEqual([{ name: 't', arguments: { a: 1 } }]);
});

test('the legacy shim enters the wrapped handler again, and echoes its state byte for byte', async () => {
  const states: unknown[] = [];
  const host = {
    server: () => {
      const server = serverAround((method, handler) => async (request, ctx) => {
        if (method === 'tools/call') states.push(ctx.mcpReq.requestState());
        return handler(request, ctx);
      });
      server.registerTool('t', {}, (ctx) =>
        ctx.mcpReq.inputResponses
          ? textResult('Done.')
          : inputRequired({
              inputRequests: { q: inputRequired.elicit({ message: '?', requestedSchema: noForm }) },
              requestState: ODD_STATE,
            }),
      );
      return server;
    },
  };
  const client = await oldClient(host, () => ({ action: 'accept', content: {} }));
  expect(await client.callTool({ name: 't' })).toEqual(textResult('Done.'));
  expect(states).toEqual([undefined, ODD_STATE]);
});

test.each(['modern', 'legacy'])('a symbol on the context reaches the author on the %s era', async (era) => {
  const seen: unknown[] = [];
  const host = hostServers(() => {
    const server = serverAround((_, handler) => (request, ctx) => {
      return handler(request, { ...ctx, [MARK]: 'marked' } as ServerContext);
    });
    registerEach(server, (ctx) => {
      seen.push((ctx as { [MARK]?: string })[MARK]);
      return ANYTHING;
    });
    return server;
  });
  await callEach(host, era);
  expect(seen).toEqual(['marked', 'marked', 'marked']);
});

/** The state that a handler reads when the client sends `requestState`. */
async function stateSeen(requestState: unknown, options = {}): Promise<unknown[]> {
  const seen: unknown[] = [];
  const { post } = hostServers(() => {
    const server = new McpServer(INFO, options);
    server.registerTool('t', {}, (ctx) => {
      seen.push(ctx.mcpReq.requestState());
      return textResult('');
    });
    return server;
  });
  await post('tools/call', { name: 't', requestState });
  return seen;
}

test('without a verify hook, requestState() gives the text that the client sent', async () => {
  expect(await stateSeen('anything at all')).toEqual(['anything at all']);
  expect(await stateSeen('')).toEqual(['']);
});

test('state that is not text does not reach a handler', async () => {
  expect(await stateSeen(42)).toEqual([]);
  expect(await stateSeen(null)).toEqual([]);
});

test('with a verify hook, requestState() gives the result of the hook', async () => {
  const verify = async (state: string) => ({ verified: state });
  expect(await stateSeen('sent', { requestState: { verify } })).toEqual([{ verified: 'sent' }]);
});

test.each([
  ['tools/call', { tools: {} }],
  ['prompts/get', { prompts: {} }],
  ['resources/read', { resources: {} }],
] as const)(
  'declaring capabilities in the constructor installs the handler of %s at once',
  (method, capabilities) => {
    const server = new McpServer(INFO, { capabilities });
    expect(() => server.server.assertCanSetRequestHandler(method)).toThrow('already');
  },
);

test('a new server has no handler for a method that may have state', () => {
  const { server } = new McpServer(INFO);
  for (const method of MRTR_METHODS) server.assertCanSetRequestHandler(method);
});

test('the server knows the revision and the client of a connection, and neither on stateless legacy serving', async () => {
  const seen: unknown[] = [];
  const host = hostServers(() => {
    const server = new McpServer(INFO);
    server.registerTool('t', {}, () => {
      seen.push([server.server.getNegotiatedProtocolVersion(), server.server.getClientCapabilities()]);
      return textResult('');
    });
    return server;
  });
  await host.post('tools/call', { name: 't' });
  await (await oldClient(host, () => ({}))).callTool({ name: 't' });
  await host.post('tools/call', { name: 't' }, { legacy: true });
  expect(seen).toEqual([
    ['2026-07-28', { elicitation: {} }],
    // The handshake's schema spells the bare declaration out; the envelope's does not.
    ['2025-11-25', { elicitation: { form: {} } }],
    [undefined, undefined],
  ]);
});

test('a ProtocolError of the wrapped handler reaches the wire unchanged, and one of a tool does not', async () => {
  const error = () => new ProtocolError(-32602, 'no', { reason: 'because' });
  const { post } = hostServers(() => {
    const server = serverAround((_, handler) => (request, ctx) => {
      if (request.params?.name === 'outer') throw error();
      return handler(request, ctx);
    });
    for (const name of ['outer', 'inner']) {
      server.registerTool(name, {}, () => {
        throw error();
      });
    }
    return server;
  });
  expect(await post('tools/call', { name: 'outer' })).toEqual({
    error: { code: -32602, message: 'no', data: { reason: 'because' } },
  });
  const inner = await post('tools/call', { name: 'inner' });
  expect(inner.result).toMatchObject({ ...textResult('no'), isError: true });
});

test('a handler with schemas of its own gets the params and not the request', async () => {
  const seen: unknown[] = [];
  const { post } = hostServers(() => {
    const server = new McpServer(INFO);
    server.server.registerCapabilities({ tools: {} });
    const schemas = { params: z.looseObject({ name: z.string() }) };
    server.server.setRequestHandler('tools/call', schemas, (params) => {
      seen.push(params);
      return textResult('');
    });
    return server;
  });
  await post('tools/call', { name: 't' });
  expect(seen).toEqual([{ name: 't' }]);
});

test('the answers are in an object whose prototype a client may set', async () => {
  const seen: unknown[] = [];
  const { post } = hostServers(() => {
    const server = new McpServer(INFO);
    server.registerTool('t', {}, ({ mcpReq: { inputResponses } }) => {
      seen.push([Object.keys(inputResponses ?? {}), inputResponses?.units]);
      return textResult('');
    });
    return server;
  });
  await post('tools/call', {
    name: 't',
    inputResponses: JSON.parse('{"__proto__":{"units":{"action":"accept"}}}'),
  });
  expect(seen).toEqual([[[], { action: 'accept' }]]);
});

const LEGS = {
  elicitation: inputRequired.elicit({ message: '?', requestedSchema: noForm }),
  url: inputRequired.elicitUrl({ message: '?', url: 'https://example.com' }),
  sampling: inputRequired.createMessage({ messages: [], maxTokens: 1 }),
  tools: inputRequired.createMessage({ messages: [], maxTokens: 1, tools: [] }),
  roots: inputRequired.listRoots(),
};

test.each<[keyof typeof LEGS, unknown, unknown]>([
  ['elicitation', {}, { elicitation: { form: {} } }],
  ['elicitation', { elicitation: { url: {} } }, { elicitation: { form: {} } }],
  ['url', { elicitation: {} }, { elicitation: { url: {} } }],
  ['sampling', { elicitation: {} }, { sampling: {} }],
  ['tools', { sampling: {} }, { sampling: { tools: {} } }],
  ['roots', {}, { roots: {} }],
])(
  'a question (%s) to a client that declares %j is -32021 with HTTP 400',
  async (leg, capabilities, missing) => {
    const { send } = hostServers(() => {
      const server = new McpServer(INFO);
      server.registerTool('t', {}, () =>
        inputRequired({ inputRequests: { q: LEGS[leg] }, requestState: 's' }),
      );
      server.registerPrompt('t', {}, () => inputRequired({ inputRequests: { q: LEGS[leg] } }));
      return server;
    });
    for (const method of ['tools/call', 'prompts/get']) {
      const response = await send(method, { name: 't' }, { capabilities });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { code: -32021, data: { requiredCapabilities: missing } },
      });
    }
  },
);

test('a question that the client declared goes out with HTTP 200', async () => {
  const { send } = hostServers(() => {
    const server = new McpServer(INFO);
    server.registerTool('t', {}, () => inputRequired({ inputRequests: { q: LEGS.url } }));
    return server;
  });
  const response = await send('tools/call', { name: 't' }, { capabilities: { elicitation: { url: {} } } });
  expect(response.status).toBe(200);
});

test('a callback without a schema gets the context alone, also where the client sends arguments', async () => {
  const given: unknown[][] = [];
  const { post } = hostServers(() => {
    const server = new McpServer(INFO);
    const kinds = (args: unknown[]) => given.push(args.map((each) => (each as ServerContext).mcpReq?.method));
    server.registerTool('t', {}, (...args: unknown[]) => {
      kinds(args);
      return textResult('');
    });
    server.registerPrompt('p', {}, (...args: unknown[]) => {
      kinds(args);
      return { messages: [] };
    });
    server.registerTool('with', { inputSchema: z.looseObject({}) }, (...args: unknown[]) => {
      kinds(args);
      return textResult('');
    });
    return server;
  });
  await post('tools/call', { name: 't', arguments: { a: 1 } });
  await post('prompts/get', { name: 'p', arguments: { a: '1' } });
  await post('tools/call', { name: 'with', arguments: { a: 1 } });
  expect(given).toEqual([['tools/call'], ['prompts/get'], [undefined, 'tools/call']]);
});

test.each(['modern', 'legacy'])(
  'an input_required result reaches the wrapped handler as the same object, with its symbols (%s)',
  async (era) => {
    const made: unknown[] = [];
    const returned: unknown[] = [];
    const ask = () => {
      const result = Object.assign(inputRequired({ inputRequests: { q: LEGS.elicitation } }), {
        [MARK]: 'marked',
      });
      made.push(result);
      return result;
    };
    const host = hostServers(() => {
      const server = serverAround((method, handler) => async (request, ctx) => {
        const result = await handler(request, ctx);
        if (!method.endsWith('/list')) returned.push(result);
        return ANYTHING;
      });
      registerEach(server, ask, { outputSchema: noForm });
      return server;
    });
    await callEach(host, era);
    expect(made).toHaveLength(3);
    expect(returned.map((result, at) => result === made[at])).toEqual([true, true, true]);
    expect(returned).toMatchObject(Array(3).fill({ [MARK]: 'marked' }));
  },
);

test('the SDK’s own codec signs and does not hide', async () => {
  const token = await createRequestStateCodec({ key: 'k'.repeat(32) }).mint(
    { plan: 'secret' },
    {} as ServerContext,
  );
  expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).p).toEqual({
    plan: 'secret',
  });
});

test('each request builds a new server', async () => {
  let built = 0;
  const { post } = hostServers(() => {
    built++;
    return new McpServer(INFO);
  });
  await post('tools/list', {});
  await post('tools/list', {});
  expect(built).toBe(2);
});

test('a form takes a choice as a typed enum only, so the other spellings are converted before', () => {
  const form = (field: unknown) => {
    const convert = () => ({ type: 'object', properties: { field } });
    const standard = { version: 1 as const, vendor: 'by hand', validate: (value: unknown) => ({ value }) };
    const requestedSchema = { '~standard': { ...standard, jsonSchema: { input: convert, output: convert } } };
    return () => inputRequired.elicit({ message: 'Which?', requestedSchema });
  };
  expect(form({ type: 'string', enum: ['a', 'b'] })).not.toThrow();
  for (const spelt of [{ enum: ['a', 'b'] }, { anyOf: [{ const: 'a' }, { const: 'b' }] }, { const: 'a' }]) {
    expect(form(spelt)).toThrow('only supports flat primitive properties');
  }
});
