import { elicitation, protectedServer, textResult } from '@mrtr/core';
import { scriptedUser } from '@mrtr/harness';
import { eventsOf, type Transcript, tally } from '@mrtr/harness/transcript';
import { converse } from '@mrtr/matrix';
import { journal } from '@mrtr/shapes/journal';
import { ContinuationStore, linear } from '@mrtr/shapes/linear';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { ada, type Does } from './ada.ts';
import { LINK } from './agenda.ts';
import { SHAPES } from './index.ts';
import { Person } from './person.ts';
import { ALL, siteOf } from './site.test-support.ts';
import type { CreateServer } from './site.ts';

const EVENTS = 'Today ada has a bicycle to fetch, at 17:00.';

const play = (subject: (typeof SHAPES)[number], does?: Does): Promise<Transcript> =>
  converse({
    subject,
    call: { method: 'tools/call', params: { name: 'agenda', arguments: {} } },
    user: scriptedUser({}, does && ada(does)),
    client: 'modern',
    hosting: 'memory',
    legacy: 'degrade',
  });
const textOf = ({ end }: Transcript) =>
  (end.result as { content: { text: string }[] } | undefined)?.content[0]?.text;
const questionsIn = ({ events }: Transcript) => eventsOf('question', events).map(({ message }) => message);

describe.each(SHAPES.map((subject) => [subject.id, subject] as const))('shape %s', (_, subject) => {
  test('links a calendar through real redirects, and reads it', async () => {
    const transcript = await play(subject, 'links');
    expect(textOf(transcript)).toBe(EVENTS);
    expect(questionsIn(transcript)).toEqual([LINK]);
    const visits = eventsOf('visit', transcript.events);
    const paths = visits.map(({ url, status }) => `${new URL(url).pathname} ${status}`);
    expect(paths.slice(-5)).toEqual([
      '/link/start 200',
      '/link/start 303',
      '/authorize 200',
      '/decide 303',
      '/link/callback 200',
    ]);
    expect(new Set(visits.map(({ url }) => new URL(url).port)).size).toBe(2);
    expect(tally(transcript)).toMatchObject({ rounds: 2, framesHeld: subject.id === 'h' ? 1 : 0 });
  });

  test.each([['says no there'], ['declines'], ['cancels']] as const)(
    'ends politely when the user %s',
    async (does) => {
      expect(textOf(await play(subject, does))).toBe("Cancelled: the question 'link' was not answered.");
    },
  );

  test('refuses a client that cannot open pages with the capability that it lacks', async () => {
    const { end } = await play(subject);
    expect(end.error).toMatchObject({ code: -32021 });
  });
});

describe.each(ALL)('shape %s', (shape, createServer) => {
  test('an answer to either wording counts', async () => {
    const { call } = await siteOf(createServer);
    const first = await call('ada');
    const again = await call('ada', first);
    await new Person('ada').link(first.page ?? '');
    // The handler of H waits in the latest round only.
    for (const round of shape === 'H' ? [again] : [first, again]) {
      expect(await call('ada', round)).toEqual({ says: EVENTS });
    }
  });
});

test('what came of the page stays with the call, also when the store has forgotten it', async () => {
  const sure = elicitation('Really?', z.object({ sure: z.boolean() }));
  const createServer: CreateServer = (policy, { link }) => {
    const server = protectedServer({ name: 'agenda', version: '1.0.0' }, policy);
    const handler = journal(
      async (_input, ctx) => {
        const { account } = await ctx.ask('link', await link.question(ctx.request, LINK));
        await ctx.ask('sure', sure);
        return textResult(account);
      },
      { strict: true },
    );
    server.registerTool('agenda', {}, handler);
    return server;
  };
  const { call, clock } = await siteOf(createServer, { ttlSeconds: 60 });
  const first = await call('ada');
  await new Person('ada').link(first.page ?? '');
  const second = await call('ada', first);
  expect(second).not.toHaveProperty('page');
  clock.now += 61_000;
  const answered = { sure: { action: 'accept', content: { sure: true } } };
  expect(await call('ada', second, answered)).toEqual({ says: 'ada@calendar.example' });
});

test('H sends its user to two pages in one call, and a client that opens none gets the value for it', async () => {
  const store = new ContinuationStore();
  onTestFinished(() => store.close());
  const createServer: CreateServer = (policy, { link }) => {
    const server = protectedServer({ name: 'agenda', version: '1.0.0' }, policy);
    const fallback = { account: 'none' };
    const handler = linear(
      async (_input, ctx) => {
        const one = await link.ask(ctx, 'link', LINK, { fallback });
        const other = await link.ask(ctx, 'other', 'And another one.', { fallback });
        return textResult(`${one.account} and ${other.account}`);
      },
      { store },
    );
    server.registerTool('agenda', {}, (ctx) => handler({}, ctx));
    return server;
  };
  const { call } = await siteOf(createServer);
  const first = await call('ada');
  await new Person('ada').link(first.page ?? '');
  const second = await call('ada', first);
  expect(second.asks).toBe('And another one.');
  expect(second.page).not.toBe(first.page);
  await new Person('ada').link(second.page ?? '');
  const both = { says: 'ada@calendar.example and ada@calendar.example' };
  expect(await call('ada', second, { other: { action: 'accept' } })).toEqual(both);
  expect(await call('ada', undefined, {}, { elicitation: { form: {} } })).toEqual({ says: 'none and none' });
});
