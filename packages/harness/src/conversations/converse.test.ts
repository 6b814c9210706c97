import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedUser } from '../clients/user.ts';
import { CALL, deployer } from '../deployer.test-support.ts';
import { foreignHosting } from '../hosts/endpoint.ts';
import { host, type LocalHostingKind } from '../hosts/host.ts';
import { eventsOf, type TranscriptEvent } from '../transcript/index.ts';
import type { ConversationRequest } from './conversation.ts';
import { converse } from './converse.ts';
import { InProcess } from './in-process.ts';

const deploy = (hosting: LocalHostingKind, request: Partial<ConversationRequest> = {}) =>
  converse({ ...CALL, user: scriptedUser({ sure: [true] }), ...request }, () =>
    host(hosting, () => ({ server: deployer })),
  );

test('a conversation is recorded, with the keys of its questions and the names of its steps', async () => {
  const { events, end, participants } = await deploy('memory');
  expect(end.result?.content).toEqual([{ type: 'text', text: 'Deployed to staging.' }]);
  expect(participants.map(({ id }) => id)).toEqual(['person', 'client', 'i1']);
  const [asked] = eventsOf('question', events);
  expect(asked).toMatchObject({ id: 1, message: 'Deploy to staging?', key: 'sure' });
  const step = { kind: 'entry', at: expect.any(Number), instance: 'i1', part: 'step', name: 'sure' };
  expect(eventsOf('entry', events)).toEqual([step, step]);
});

test('events are announced as they happen, messages with the instance that they reached', async () => {
  const announced: TranscriptEvent[] = [];
  const { events } = await deploy('fleet', { onEvent: (event) => announced.push(structuredClone(event)) });
  expect(announced).toEqual(events);
});

test('a script has its replies by key, and one without a reply ends the call with what it was given', async () => {
  const asking = () => {
    const server = new McpServer({ name: 'asking', version: '1.0.0' });
    server.registerTool('deploy', {}, ({ mcpReq: { inputResponses } }) => {
      const requestedSchema = z.object({ answer: z.string() });
      const ask = () => inputRequired.elicit({ message: 'Which?', requestedSchema });
      const inputRequests = { colour: ask(), size: ask() };
      return inputResponses
        ? { content: [{ type: 'text', text: JSON.stringify(inputResponses) }] }
        : inputRequired({ inputRequests });
    });
    return server;
  };
  const reply = (script: Parameters<typeof scriptedUser>[0]) =>
    converse({ ...CALL, user: scriptedUser(script) }, () => host('memory', () => ({ server: asking })));
  for (const silent of [[], ['silence']] as const) {
    const { end } = await reply({ colour: ['red'], size: ['L'], other: silent });
    expect(JSON.stringify(end.result?.content)).toMatch(/colour.+red.+size.+L/);
    const { error } = (await reply({ colour: ['red'], weight: ['12', ...silent] })).end;
    expect(error?.message).toContain(
      `'size' ("Which?") has no reply. There are replies to 'colour', 'weight': add one to 'size' or 'answer'.`,
    );
  }
});

test.each(['modern', 'legacy'] as const)(
  'the script of a %s client without a reply ends the call',
  async (client) => {
    const { end } = await deploy('memory', { client, user: scriptedUser({}) });
    expect(JSON.stringify(end)).toContain(`There are replies to nothing: add one to 'sure'.`);
  },
);

test('a client without a user declares no elicitation, and a call that fails ends in its error', async () => {
  const { end, participants } = await deploy('memory', { user: undefined });
  expect(participants.map(({ kind }) => kind)).toEqual(['client', 'instance']);
  expect(end.error).toMatchObject({ code: -32021 });
});

test('an option of an earlier version is an error that says what to write now', async () => {
  await expect(deploy('memory', { title: 'Deploy' } as object)).rejects.toThrow(
    "The option 'title' is gone. Write `{ ...transcript, title }` when the call has ended instead.",
  );
  const client = new InProcess(deployer).modern({ elicit: () => ({ action: 'cancel' }) } as object);
  await expect(client).rejects.toThrow("The option 'elicit' is gone. Write `user` instead.");
  const endpoint = { kind: 'stdio', command: 'node', args: [], startOnce: true } as const;
  expect(() => foreignHosting(endpoint)).toThrow("Write `client: 'modern-only'` instead.");
});

test('a message that reaches nobody is lost', async () => {
  const hosting = host('memory', () => ({ server: deployer }));
  const { events, end } = await converse(CALL, () => ({
    ...hosting,
    instances: ['i1', 'i2'],
    endpoint: () => ({
      ...hosting.endpoint('modern'),
      kind: 'http',
      url: new URL('http://mrtr.invalid/mcp'),
      fetch: async (url, init) => {
        if (String(init?.body).includes('tools/call')) throw new Error('The network is down.');
        return (hosting.endpoint('modern') as { fetch: typeof fetch }).fetch(url, init);
      },
    }),
  }));
  expect(end.error?.message).toContain('The network is down.');
  expect(eventsOf('message', events)).toMatchObject([{ from: 'client', lost: true }]);
  expect(eventsOf('message', events)[0]).not.toHaveProperty('to');
});

test('importing the harness observes no channel; a conversation does, and the last one stops it', async () => {
  // Use another process, since other tests of this worker may observe the channels.
  const program = fileURLToPath(new URL('channels-observed.test-support.ts', import.meta.url));
  const args = ['--import', import.meta.resolve('tsx'), program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const [none, all] = ['false,false,false,false', 'true,true,true,true'];
  expect(stdout.trim().split('\n')).toEqual([none, all, all, none]);
});
