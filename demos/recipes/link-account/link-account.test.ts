import { randomBytes } from 'node:crypto';
import { type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';
import { converse, host, scriptedUser } from '@mrtr/harness';
import { eventsOf, resultText, type Transcript, tally } from '@mrtr/harness/transcript';
import { ContinuationStore } from '@mrtr/shapes/linear';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ada, type PageReaction, SECRET } from './ada.test-support.ts';
import { journalTool, LINK, toolBuilder, waiting } from './agenda.ts';
import { type MakeTool, startSite } from './site.test-support.ts';

const call = { method: 'tools/call', params: { name: 'agenda', arguments: {} } } as const;
const newPolicy = () => requestStatePolicy({ keys: [randomBytes(32)], legacy: 'degrade', singleUse: false });

const SHAPES = {
  g: () => toolBuilder,
  h: (store: ContinuationStore) => (calendars) => waiting(calendars, store),
  j: () => journalTool,
} satisfies Record<string, (store: ContinuationStore) => MakeTool>;

/** The tool on a site of its own, on real ports. Every call is ada's. */
function siteOf(shape: keyof typeof SHAPES, policy: RequestStatePolicy) {
  const store = new ContinuationStore();
  let site: ReturnType<typeof startSite> | undefined;
  return {
    async fetch(request: Request) {
      site ??= startSite(SHAPES[shape](store), policy);
      const headers = new Headers(request.headers);
      headers.set('authorization', `Bearer ${SECRET}`);
      const body = request.method === 'POST' && { body: await request.text() };
      return fetch((await site).url, { method: request.method, headers, ...body });
    },
    framesHeld: () => store.parked,
    close: async () => {
      await (await site)?.close();
      store.close();
    },
  };
}

const openAgenda = (shape: keyof typeof SHAPES, does: PageReaction): Promise<Transcript> =>
  converse({ client: 'modern', call, user: scriptedUser({}, ada(does)) }, () =>
    host('memory', () => siteOf(shape, newPolicy())),
  );
const textOf = ({ end }: Transcript) => resultText(end.result ?? { content: [] });
const CANCELLED = "Cancelled: the question 'link' was not answered.";

describe.each(['g', 'h', 'j'] as const)('shape %s', (shape) => {
  test('links a calendar through real redirects, and reads it', async () => {
    const transcript = await openAgenda(shape, 'links');
    expect(textOf(transcript)).toBe('Today ada has a bicycle to fetch, at 17:00.');
    expect(eventsOf('question', transcript.events)).toMatchObject([{ message: LINK }]);
    const visits = eventsOf('visit', transcript.events).map(({ url, status }) => [new URL(url), status]);
    expect(visits.map(([url, status]) => `${(url as URL).pathname} ${status}`)).toEqual([
      '/link/start 401',
      '/account/sign-in 200',
      '/link/start 200',
      '/link/start 303',
      '/authorize 200',
      '/decide 303',
      '/link/callback 200',
    ]);
    expect(tally(transcript)).toMatchObject({ rounds: 2, framesHeld: shape === 'h' ? 1 : 0 });
  });

  test('ends politely when the user says no at the other site', async () => {
    expect(textOf(await openAgenda(shape, 'says no there'))).toBe(CANCELLED);
  });

  test.each(['declines', 'cancels'] as const)('ends politely when the user %s', async (does) => {
    expect(textOf(await openAgenda(shape, does))).toBe(CANCELLED);
  });

  test('a page that the user forgets is asked for again', async () => {
    const transcript = await openAgenda(shape, 'forgets');
    expect(textOf(transcript)).toBe('Today ada has a bicycle to fetch, at 17:00.');
    expect(eventsOf('question', transcript.events)).toMatchObject([
      { message: LINK },
      { message: expect.stringMatching(/^The page is not finished yet/) },
    ]);
    expect(tally(transcript)).toMatchObject({ rounds: 3 });
  });
});

test('another site cannot sign a browser in', async () => {
  const site = await startSite(journalTool, newPolicy());
  onTestFinished(() => site.close());
  const signIn = (origin: string) =>
    fetch(new URL('/account/sign-in', site.url), {
      method: 'POST',
      headers: { origin },
      body: new URLSearchParams({ secret: SECRET }),
    });
  expect((await signIn('https://evil.example')).status).toBe(403);
  expect((await signIn(site.url.origin)).status).toBe(200);
});
