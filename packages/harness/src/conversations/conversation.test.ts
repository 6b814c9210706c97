/** A tool of one's own, tested round by round. */
import { expect, onTestFinished, test } from 'vitest';
import { CALL, deployer } from '../deployer.test-support.ts';
import { host, type LocalHosting } from '../hosts/host.ts';
import { eventsOf, tally } from '../transcript/index.ts';
import { Conversation, type RoundsRequest } from './conversation.ts';

const start = async (request: Partial<RoundsRequest> = {}): Promise<Conversation<LocalHosting>> => {
  const conversation = await Conversation.start({ ...CALL, ...request }, () =>
    host('memory', () => ({ server: deployer })),
  );
  onTestFinished(async () => void (await conversation.close()));
  return conversation;
};
const DEPLOYED = { result: { content: [{ type: 'text', text: 'Deployed to staging.' }] } };

test.each(['modern', 'legacy'] as const)(
  'a %s client is asked, and its answer ends the call',
  async (client) => {
    const conversation = await start({ client });
    const { first } = conversation;
    expect(first.questions).toMatchObject({ sure: { message: 'Deploy to staging?' } });
    expect(first.end).toBeUndefined();
    const done = await first.answer({ sure: true });
    expect([done.end, done.questions]).toMatchObject([DEPLOYED, {}]);
    const transcript = await conversation.close();
    expect(transcript.end).toEqual(done.end);
    expect(eventsOf('answer', transcript.events)).toMatchObject([{ id: 1, reply: { action: 'accept' } }]);
    await expect(done.answer({ sure: true })).rejects.toThrow('The call has ended');
    await expect(done.again()).rejects.toThrow('on the round that was answered');
  },
);

test('a retry that is sent again is served again, and recorded', async () => {
  const conversation = await start();
  const { first } = conversation;
  await expect(first.again()).rejects.toThrow('Answer the round first');
  const both = await Promise.all([first.answer({ sure: true }), first.again()]);
  expect(both.map(({ end }) => end)).toMatchObject([DEPLOYED, DEPLOYED]);
  expect(tally(await conversation.close())).toMatchObject({
    rounds: 3,
    effects: { deploy: 2 },
    questions: 1,
  });
});

test('one round may be answered in two ways, and each answer is a retry', async () => {
  const { first } = await start();
  expect((await first.answer({ sure: { action: 'decline' } })).end?.result?.content).toEqual([
    { type: 'text', text: 'Cancelled.' },
  ]);
  expect((await first.answer({ sure: true })).end).toMatchObject(DEPLOYED);
  expect((await first.answer({ sure: 'silence' })).questions).toHaveProperty('sure');
  await expect(first.answer({})).rejects.toThrow(`'sure' ("Deploy to staging?") has no reply.`);
});

test('between two rounds, another instance takes over, all restart, and a new version is deployed', async () => {
  const versions: string[] = [];
  const version = (name: string) => () => {
    versions.push(name);
    return { server: deployer };
  };
  const conversation = await Conversation.start(CALL, () => host('memory', version('1')));
  const { hosting, first } = conversation;
  hosting.another();
  const second = await first.answer({ sure: 'silence' });
  await hosting.restart();
  await hosting.restart(version('2'));
  hosting.another();
  await second.answer({ sure: true });
  const { events, participants } = await conversation.close();
  expect(versions).toEqual(['1', '1', '1', '1', '2', '2', '2']);
  expect(participants.map(({ id }) => id)).toEqual(['person', 'client', 'i1', 'i2', 'i3']);
  expect(eventsOf('entry', events).map(({ instance }) => instance)).toEqual(['i1', 'i2', 'i3']);
  expect(eventsOf('restart', events).map(({ instance }) => instance)).toEqual(['i1', 'i2', 'i1', 'i2']);
});

test('a restart ends the call of an old client, whose connection is gone', async () => {
  const { hosting, first } = await start({ client: 'legacy' });
  await hosting.restart();
  expect((await first.answer({ sure: true })).end?.error?.message).toContain('Connection closed');
  await expect(first.again()).rejects.toThrow('answered once');
});

test('a request can be cancelled, and a call may be left unanswered', async () => {
  const gone = new AbortController();
  gone.abort(new Error('changed my mind'));
  const { first } = await start({ signal: gone.signal });
  expect(first.end?.error?.message).toContain('changed my mind');
  for (const client of ['modern', 'legacy'] as const) {
    const left = await start({ client });
    expect((await left.close()).end.error?.message).toContain('closed before the call ended');
  }
});
