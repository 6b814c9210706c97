/** Testing a tool of your own, round by round. */
import { Conversation, callerNamed, host } from '@mrtr/harness';
import { tally } from '@mrtr/harness/transcript';
import { expect, test } from 'vitest';
import { createServer } from './deploy.ts';

const call = { method: 'tools/call', params: { name: 'deploy', arguments: { env: 'staging' } } } as const;
const DEPLOYED = [{ type: 'text', text: 'Deployed to staging.' }];

/** A real client of either era at `createServer`, with the test as its user. */
const start = (client: 'modern' | 'legacy', caller = callerNamed('ada')) =>
  Conversation.start({ client, call, caller }, () => host('memory', () => ({ server: createServer })));

test.each(['modern', 'legacy'] as const)(
  'a yes from a %s client deploys, and a no does not',
  async (client) => {
    const yes = await start(client);
    expect(yes.first.questions.sure?.message).toBe('Really deploy to “staging”?');
    expect((await yes.first.answer({ sure: 'yes' })).end?.result?.content).toEqual(DEPLOYED);
    const no = await start(client);
    const refused = await no.first.answer({ sure: { action: 'decline' } });
    expect(refused.end?.result?.content).toEqual([
      { type: 'text', text: "Cancelled: the question 'sure' was not answered." },
    ]);
    await Promise.all([yes.close(), no.close()]);
  },
);

test('the call goes on at another instance, after a restart, and in a new version', async () => {
  const conversation = await start('modern');
  conversation.hosting.another(); // another instance serves from now on
  const asked = await conversation.first.answer({ sure: 'perhaps' }); // nonsense is asked again
  await conversation.hosting.restart(); // restart now: what is in memory is lost
  await conversation.hosting.restart(() => ({ server: createServer })); // deploy a new version now
  const done = await asked.answer({ sure: 'yes' });
  const again = await asked.again(); // send that retry twice
  expect(again.end).toEqual(done.end);
  expect(tally(await conversation.close())).toMatchObject({ rounds: 4, questions: 2, entries: 3 });
});

test('one user cannot answer the question of another', async () => {
  const conversation = await start('modern');
  const stolen = await conversation.first.answer({ sure: 'yes' }, { caller: callerNamed('bob') });
  expect(stolen.end?.error?.code).toBe(-32602);
  expect((await conversation.first.answer({ sure: 'yes' })).end?.result?.content).toEqual(DEPLOYED);
  await conversation.close();
});
