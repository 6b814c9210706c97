/**
 * What the boundary relies on and the SDK does not document. A failure here says that a release of the SDK took
 * the ground away, before anything else fails for reasons that are harder to read.
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
import { hostedBy, oldClient } from './hosted.test-support.ts';
import { textResult } from './results.ts';
import { MRTR_METHODS } from './wire.ts';

const INFO = { name: 'facts', version: '1.0.0' };
const MARK = Symbol.for('mrtr.facts');

type Handler = (request: { params?: Record<string, unknown> }, ctx: ServerContext) => unknown;

/** A server whose low-level handlers pass through `around`, as the boundary has it. */
function wrapped(around: (method: string, handler: Handler) => Handler): McpServer {
  const server = new McpServer(INFO);
  const low = server.server;
  const original = low.setRequestHandler.bind(low) as (method: string, handler: Handler) => void;
  low.setRequestHandler = ((method: string, handler: Handler) => {
    original(method, around(method, handler));
  }) as typeof low.setRequestHandler;
  return server;
}

const noForm = z.object({});

test('what is registered on an McpServer goes through setRequestHandler of that instance', () => {
  const methods: string[] = [];
  const server = wrapped((method, handler) => {
    methods.push(method);
    return handler;
  });
  server.registerTool('t', {}, () => textResult(''));
  server.registerPrompt('p', {}, () => ({ messages: [] }));
  server.registerResource('r', 'r://r', {}, () => ({ contents: [] }));
  expect(methods).toEqual([
    ...['tools/list', 'tools/call'],
    ...['prompts/list', 'prompts/get'],
    ...['resources/list', 'resources/templates/list', 'resources/read'],
  ]);
});

test('the wrapped handler sees the name and the arguments, and nothing of the retry fields', async () => {
  const seen: unknown[] = [];
  const { post } = hostedBy(() => {
    const server = wrapped((_, handler) => (request, ctx) => {
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

test('the legacy shim re-enters the wrapped handler, with the state as the wrapper sent it out', async () => {
  const states: unknown[] = [];
  const host = {
    server: () => {
      const server = wrapped((method, handler) => async (request, ctx) => {
        if (method === 'tools/call') states.push(ctx.mcpReq.requestState());
        return handler(request, ctx);
      });
      server.registerTool('t', {}, (ctx) =>
        ctx.mcpReq.inputResponses
          ? textResult('Done.')
          : inputRequired({
              inputRequests: { q: inputRequired.elicit({ message: '?', requestedSchema: noForm }) },
              requestState: 'sent out',
            }),
      );
      return server;
    },
  };
  const client = await oldClient(host, () => ({ action: 'accept', content: {} }));
  expect(await client.callTool({ name: 't' })).toEqual(textResult('Done.'));
  expect(states).toEqual([undefined, 'sent out']);
});

test.each(['modern', 'legacy'])('a symbol on the context reaches the author on the %s era', async (era) => {
  const seen: unknown[] = [];
  const host = hostedBy(() => {
    const server = wrapped((_, handler) => (request, ctx) => {
      return handler(request, { ...ctx, [MARK]: 'marked' } as ServerContext);
    });
    const author = (ctx: ServerContext) => seen.push((ctx as { [MARK]?: string })[MARK]);
    server.registerTool('t', {}, (ctx) => {
      author(ctx);
      return textResult('');
    });
    server.registerPrompt('p', {}, (ctx) => {
      author(ctx);
      return { messages: [] };
    });
    server.registerResource('r', 'r://r', {}, (_, ctx) => {
      author(ctx);
      return { contents: [] };
    });
    return server;
  });
  if (era === 'modern') {
    await host.post('tools/call', { name: 't' });
    await host.post('prompts/get', { name: 'p' });
    await host.post('resources/read', { uri: 'r://r' });
  } else {
    const client = await oldClient(host);
    await client.callTool({ name: 't' });
    await client.getPrompt({ name: 'p' });
    await client.readResource({ uri: 'r://r' });
  }
  expect(seen).toEqual(['marked', 'marked', 'marked']);
});

/** What a handler reads as its state when the client sends `requestState`. */
async function stateSeen(requestState: unknown, options = {}): Promise<unknown[]> {
  const seen: unknown[] = [];
  const { post } = hostedBy(() => {
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

test('without a verify hook, requestState() is what the client sent', async () => {
  expect(await stateSeen('anything at all')).toEqual(['anything at all']);
  expect(await stateSeen('')).toEqual(['']);
});

test('state that is no text does not reach a handler', async () => {
  expect(await stateSeen(42)).toEqual([]);
  expect(await stateSeen(null)).toEqual([]);
});

test('with a verify hook, requestState() is what the hook made of it', async () => {
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

test('a new server has no handler for any method that may carry state', () => {
  const { server } = new McpServer(INFO);
  for (const method of MRTR_METHODS) server.assertCanSetRequestHandler(method);
});

test('the server knows the revision and the client of a connection, and neither on stateless legacy serving', async () => {
  const seen: unknown[] = [];
  const host = hostedBy(() => {
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

test('a ProtocolError of the wrapped handler reaches the wire as it is, though one of a tool does not', async () => {
  const error = () => new ProtocolError(-32602, 'no', { reason: 'because' });
  const { post } = hostedBy(() => {
    const server = wrapped((_, handler) => (request, ctx) => {
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

test('a handler with schemas of its own is given the params and not the request', async () => {
  const seen: unknown[] = [];
  const { post } = hostedBy(() => {
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

test('the answers arrive in an object whose prototype a client may set', async () => {
  const seen: unknown[] = [];
  const { post } = hostedBy(() => {
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

test('the SDK’s own codec signs and does not hide', async () => {
  const token = await createRequestStateCodec({ key: 'k'.repeat(32) }).mint(
    { plan: 'secret' },
    {} as ServerContext,
  );
  expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).p).toEqual({
    plan: 'secret',
  });
});

test('a factory is asked for a new server by every request', async () => {
  let built = 0;
  const { post } = hostedBy(() => {
    built++;
    return new McpServer(INFO);
  });
  await post('tools/list', {});
  await post('tools/list', {});
  expect(built).toBe(2);
});
