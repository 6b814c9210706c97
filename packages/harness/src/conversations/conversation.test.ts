/** A tool that is tested round by round. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SendOptions } from '../clients/round-result.ts';
import { scriptedUser } from '../clients/user.ts';
import { CALL, deployer } from '../deployer.test-support.ts';
import { callerNamed } from '../hosts/caller.ts';
import { foreignHosting } from '../hosts/endpoint.ts';
import { host, type LocalHosting, type LocalHostingKind } from '../hosts/host.ts';
import type { ClientKind } from '../transcript/call.ts';
import { eventsOf, tally } from '../transcript/index.ts';
import { Conversation, type ConversationRequest } from './conversation.ts';
import { converse } from './converse.ts';
import { InProcess } from './in-process.ts';

const start = async (request: Partial<ConversationRequest> = {}): Promise<Conversation<LocalHosting>> => {
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
  const complaint = `'sure' ("Deploy to staging?") has no reply. There are replies to 'shure': add one to 'sure'.`;
  await expect(first.answer({ shure: true })).rejects.toThrow(complaint);
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

test.each(['modern', 'legacy'] as const)(
  'a %s client calls as its caller, on any hosting',
  async (client) => {
    const request = { ...CALL, client, caller: callerNamed('ada'), user: scriptedUser({ sure: [true] }) };
    for (const kind of client === 'modern'
      ? (['memory', 'fleet', 'restart'] as const)
      : (['memory'] as const)) {
      const { end } = await converse(request, () => host(kind, () => ({ server: deployer })));
      expect(end).toMatchObject({ result: { content: [{ text: 'ada deployed to staging.' }] } });
    }
  },
);

test('another user answers the question of a user, with a modern client', async () => {
  const caller = callerNamed('ada');
  const { first } = await start({ caller });
  const answer = (options?: SendOptions) => first.answer({ sure: true }, options);
  const both = await Promise.all([answer({ caller: callerNamed('bob') }), answer()]);
  const again = await first.again({ caller: callerNamed('eve') });
  expect([...both, again].map(({ end }) => end?.result?.content)).toMatchObject(
    ['bob', 'ada', 'eve'].map((name) => [{ text: `${name} deployed to staging.` }]),
  );
  const old = await start({ caller, client: 'legacy' });
  await expect(old.first.answer({ sure: true }, { caller })).rejects.toThrow('by the caller who connected');
});

test('a server that authenticates by itself gets the token of the caller, and a program on stdio has none', async () => {
  const tokens = new Set<string | null>();
  const fetch = async (request: Request) => {
    tokens.add(request.headers.get('authorization'));
    return new Response('Who is that?', { status: 401 });
  };
  const caller = callerNamed('ada');
  for (const client of ['modern', 'legacy'] as const) {
    // In memory, an old client has no HTTP.
    await converse({ ...CALL, client, caller }, () =>
      host('fleet', () => ({ fetch, close: async () => {} })),
    );
  }
  expect([...tokens]).toEqual(['Bearer token-of-ada']);
  const { end } = await converse({ ...CALL, caller }, () =>
    foreignHosting({ kind: 'stdio', command: 'x', args: [] }),
  );
  expect(end.error?.message).toContain('Remove `caller`');
});

test('a server that runs is named by its address, and anything else is rejected by name', () => {
  const url = 'http://localhost:3000/mcp';
  for (const server of [url, new URL(url), { kind: 'http', url: new URL(url) } as const])
    expect(foreignHosting(server).endpoint('modern')).toEqual({ kind: 'http', url: new URL(url) });
  for (const server of ['no address', { url }, undefined])
    expect(() => foreignHosting(server as never)).toThrow(
      `server must be an address, such as '${url}', or an`,
    );
});

test('before its call, a connected client can be asked which tools there are', async () => {
  const names: (readonly string[])[] = [];
  for (const client of ['modern', 'legacy'] as const) {
    const conversation = await start({
      client,
      onConnect: async ({ toolNames }) => names.push(await toolNames()),
    });
    expect(tally(await conversation.close()).rounds).toBe(1);
  }
  expect(names).toEqual([['deploy'], ['deploy']]);
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

describe('what a factory threw', () => {
  const thrown = new RangeError('PORT is not set.');
  const server = () => {
    throw thrown;
  };
  const startOn = (client: ClientKind, kind: LocalHostingKind) =>
    Conversation.start({ ...CALL, client }, () => host(kind, () => ({ server })));
  const site = new InProcess(server);
  test.each([
    ['Conversation.start of a modern client', () => startOn('modern', 'memory')],
    ['Conversation.start of a modern-only client', () => startOn('modern-only', 'fleet')],
    ['Conversation.start of a legacy client', () => startOn('legacy', 'memory')],
    ['Conversation.start of a legacy client of a fleet', () => startOn('legacy', 'fleet')],
    ['InProcess.modern', () => site.modern()],
    ['InProcess.legacy', () => site.legacy()],
    ['InProcess.post', () => site.post('tools/list', {})],
  ])('%s says it, and keeps the error', async (_, connect) => {
    let error = await connect().then(
      () => expect.unreachable(),
      (reason: Error) => reason,
    );
    expect(error.message).toContain(thrown.message);
    while (error !== thrown) {
      error = error.cause as Error;
      expect(error).toBeInstanceOf(Error);
    }
  });
});
