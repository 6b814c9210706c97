import { randomBytes } from 'node:crypto';
import { callSubject, type Subject } from '@mrtr/comparison/calls';
import { requestStatePolicy } from '@mrtr/core';
import { scriptedUser } from '@mrtr/harness';
import { eventsOf, resultText, type Transcript, tally } from '@mrtr/harness/transcript';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ada, type PageReaction, SECRET } from './ada.ts';
import { journalTool, LINK } from './agenda.ts';
import { demo } from './demo.ts';
import { startSite } from './site.ts';

const openAgenda = (subject: Subject, does: PageReaction): Promise<Transcript> =>
  callSubject({
    subject,
    call: { method: 'tools/call', params: { name: 'agenda', arguments: {} } },
    user: scriptedUser({}, ada(does)),
    client: 'modern',
    hosting: 'memory',
    legacy: 'degrade',
  });
const textOf = ({ end }: Transcript) => resultText(end.result ?? { content: [] });

describe.each(demo.subjects.map((subject) => [subject.id, subject] as const))('shape %s', (id, subject) => {
  test('links a calendar through real redirects, and reads it', async () => {
    const transcript = await openAgenda(subject, 'links');
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
    expect(tally(transcript)).toMatchObject({ rounds: 2, framesHeld: id === 'h' ? 1 : 0 });
  });

  test('ends politely when the user says no at the other site', async () => {
    expect(textOf(await openAgenda(subject, 'says no there'))).toBe(
      "Cancelled: the question 'link' was not answered.",
    );
  });
});

test('another site cannot sign a browser in', async () => {
  const site = await startSite(
    journalTool,
    requestStatePolicy({ keys: [randomBytes(32)], singleUse: false }),
  );
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
