import { createWorld } from '@mrtr/comparison';
import { protectedServer, textResult, words } from '@mrtr/core';
import { callerNamed, converse, host, type User } from '@mrtr/harness';
import { resultText } from '@mrtr/harness/transcript';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ASKED_CLIENTS, callWith, SHAPES, type Site, siteOf } from './index.ts';
import type { CreateServer } from './tracker.ts';

const ENDINGS: Readonly<Record<string, unknown>> = {
  'a client that opens URLs': { writes: 1, assurances: ['page'] },
  'a client that shows forms only': { writes: 1, assurances: ['page'] },
  'a client that cannot be asked, and calls again': { writes: 1, assurances: ['page'] },
  'a client that says yes to all, asked in a form': { writes: 1, assurances: ['form'] },
  'the same client, asked on the page': { writes: 0, assurances: [] },
};

test('the asked clients are in two shapes', () => {
  expect(SHAPES.map(({ id }) => id)).toEqual(['g', 'j']);
  expect(ASKED_CLIENTS.map(({ title }) => title)).toEqual(Object.keys(ENDINGS));
});

describe.each(SHAPES)('shape $id', ({ createServer }) => {
  test.each(ASKED_CLIENTS)('$title', async (asked) => {
    const { transcripts, ...ending } = await callWith(asked, createServer);
    expect(ending).toEqual(ENDINGS[asked.title]);
    expect(transcripts).toHaveLength(asked.user ? 1 : 2);
  });

  test('a person who refuses on the page leaves the item as it is', async () => {
    const [asked] = ASKED_CLIENTS;
    if (!asked) throw new Error('There are no asked clients.');
    const { writes, assurances } = await callWith({ ...asked, decision: 'refuse' }, createServer);
    expect({ writes, assurances }).toEqual({ writes: 0, assurances: [] });
  });
});

/** In H, the handler itself awaits the page. */
const reopens =
  (store: ContinuationStore, site: () => Site): CreateServer =>
  (policy, _askYes, { items }) => {
    const server = protectedServer({ name: 'tracker', version: '1.0.0' }, policy);
    const handler = linear(
      async (_input, ctx) => {
        const labels = { approve: 'Reopen', refuse: 'Leave it' };
        const { receipt } = await site().page.ask(ctx, 'sure', words`Reopen work item ${4522}?`, labels);
        await items.setState(4522, 'Active');
        return textResult(receipt.assurance);
      },
      { store },
    );
    server.registerTool('reopen', {}, handler);
    return server;
  };

test.each([
  ['opens URLs', 'approve', ASKED_CLIENTS[0]?.user],
  ['opens URLs', 'refuse', ASKED_CLIENTS[0]?.user],
  ['shows forms only', 'approve', ASKED_CLIENTS[1]?.user],
  ['shows forms only', 'refuse', ASKED_CLIENTS[1]?.user],
] as const)(
  'shape H waits for the page with a client that %s, and its user presses %s',
  async (_, button, user) => {
    const store = new ContinuationStore();
    onTestFinished(() => store.close());
    const site: Site = siteOf(
      reopens(store, () => site),
      'page',
    );
    const world = createWorld();
    const call = { method: 'tools/call', params: { name: 'reopen', arguments: {} } } as const;
    const request = {
      client: 'modern',
      call,
      caller: callerNamed('ada'),
      user: user?.(site, button) as User,
    } as const;
    const { end } = await converse(request, () => host('memory', () => site.instance(world)));
    const approved = button === 'approve';
    expect(resultText(end.result ?? {})).toBe(
      approved ? 'page' : "Cancelled: the question 'sure' was not answered.",
    );
    expect(world.items.writes).toHaveLength(approved ? 1 : 0);
  },
);
