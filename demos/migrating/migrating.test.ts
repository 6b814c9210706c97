/** The tool of docs/migrating.md before and after: a client's view, and the effects. */
import { fileURLToPath } from 'node:url';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { type McpServer, protectedServer, requestStatePolicy } from '@mrtr/core';
import { Conversation, host, InProcess, modernClient } from '@mrtr/harness';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as before from './before-v1.ts';
import { HOW_MANY } from './how-many.ts';
import { createRestaurant, type Restaurant } from './restaurant.ts';
import * as toE from './to-e.ts';
import * as toF from './to-f.ts';
import * as toG from './to-g.ts';
import * as toH from './to-h.ts';
import * as toJ from './to-j.ts';

const CALL = { name: 'book', arguments: { date: '2026-12-24' } };
const BOOKED = { content: [{ type: 'text', text: 'Booked table 1 on 2026-12-24 for 2.' }] };
const CANCELLED = { content: [{ type: 'text', text: "Cancelled: the question 'guests' was not answered." }] };

/** A restaurant with one table, which records every effect. */
function noting(now?: () => number): Restaurant & { readonly done: string[] } {
  const done: string[] = [];
  const { hold, book } = createRestaurant(1, now);
  return {
    done,
    hold: (date, owner) => {
      done.push(`hold ${date}`);
      return hold(date, owner);
    },
    book: (...booking) => {
      done.push('book');
      return book(...booking);
    },
  };
}

const answering = (action: 'accept' | 'decline', asked: unknown[] = []) => ({
  user: (question: { readonly message: string; readonly requestedSchema: object }) => {
    asked.push(question);
    return action === 'accept' ? { action, content: { people: 2 } } : { action };
  },
});

test('before: a v1 server asks an old client over its open stream', async () => {
  const restaurant = noting();
  const server = new OldServer({ name: 'restaurant', version: '1.0.0' });
  before.registerBook(server, restaurant);
  const client = new OldClient({ name: 'c', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { people: 2 } }));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  onTestFinished(() => client.close());
  expect(await client.callTool(CALL)).toMatchObject(BOOKED);
  expect(restaurant.done).toEqual(['hold 2026-12-24', 'book']);
});

type Register = (server: McpServer, restaurant: Restaurant) => void;

describe.each<[shape: string, register: Register, heldBeforeAsking: boolean]>([
  ['E', toE.registerBook, false],
  ['F', toF.registerBook, true],
  ['G', toG.registerBook, false],
  ['H', (server, restaurant) => toH.registerBook(server, restaurant, store), true],
  ['J', toJ.registerBook, true],
])('after, in shape %s', (_shape, register, heldBeforeAsking) => {
  function restaurantAt(now?: () => number) {
    const restaurant = noting(now);
    const policy = requestStatePolicy({ keys: ['a key of at least thirty-two bytes'], singleUse: false });
    const createServer = () => {
      const server = protectedServer({ name: 'restaurant', version: '2.0.0' }, policy);
      register(server, restaurant);
      return server;
    };
    const site = new InProcess(createServer);
    onTestFinished(() => site.close());
    return { restaurant, site, createServer };
  }

  test.each(['modern', 'legacy'] as const)('a %s client is asked once, with the same form', async (era) => {
    const { restaurant, site } = restaurantAt();
    const asked: unknown[] = [];
    const client = await site[era](answering('accept', asked));
    expect(await client.callTool(CALL)).toMatchObject(BOOKED);
    expect(restaurant.done).toEqual(['hold 2026-12-24', 'book']);
    expect(asked).toMatchObject([{ message: 'How many guests on “2026-12-24”?', requestedSchema: HOW_MANY }]);
  });

  test('a no ends the call politely, and books nothing', async () => {
    const { restaurant, site } = restaurantAt();
    const client = await site.modern(answering('decline'));
    expect(await client.callTool(CALL)).toMatchObject(CANCELLED);
    expect(restaurant.done).toEqual(heldBeforeAsking ? ['hold 2026-12-24'] : []);
  });

  test('a client that cannot be asked is rejected, and holds no table', async () => {
    const { restaurant, site } = restaurantAt();
    const client = await site.modern({});
    await expect(client.callTool(CALL)).rejects.toMatchObject({ code: -32021 });
    expect(restaurant.done).toEqual([]);
  });

  test.each(['modern', 'legacy'] as const)(
    'the table of a %s client that never comes back is free after ten minutes, and its late answer books nothing',
    async (client) => {
      let now = 0;
      const { createServer } = restaurantAt(() => now);
      const start = () =>
        Conversation.start({ client, call: { method: 'tools/call', params: CALL } }, () =>
          host('memory', () => ({ server: createServer })),
        );
      const answers = { [client === 'modern' ? 'guests' : 'people']: 2 };
      const left = await start();
      if (heldBeforeAsking)
        expect((await start()).first.end?.result).toMatchObject({ content: [{ text: 'No table is free.' }] });
      now = 600_000;
      const next = await start();
      expect((await next.first.answer(answers)).end?.result).toMatchObject(BOOKED);
      const late = (await left.first.answer(answers)).end?.result;
      expect(late).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/no longer|free/) }],
      });
      await Promise.all([left.close(), next.close()]);
    },
  );
});

const store = new ContinuationStore();

test('the server of the document asks a new client over stdio, and books', async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--import', 'tsx', fileURLToPath(new URL('./server.ts', import.meta.url))],
    env: { STATE_KEY: 'a key of at least thirty-two bytes' },
    stderr: 'ignore',
  });
  const client = await modernClient(transport, answering('accept'));
  onTestFinished(() => client.close());
  expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect(await client.callTool(CALL)).toMatchObject(BOOKED);
});
