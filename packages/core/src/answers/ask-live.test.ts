import type { McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { eventsOf, type Hosted, hostTools, oldClient } from '../admission/hosted.test-support.ts';
import { elicitation } from '../questions/elicitation.ts';
import { listRoots } from '../questions/model-and-roots.ts';
import type { Question } from '../questions/question.ts';
import { textResult } from '../wire/results.ts';
import { askLive } from './ask-live.ts';

const units = elicitation('Which units?', z.object({ units: z.enum(['metric', 'imperial']) }));
const metric = { action: 'accept', content: { units: 'metric' } };

/** A tool that asks live; `outcomes` collects its answers and errors. */
const asking =
  (outcomes: unknown[], question: Question = units) =>
  (server: McpServer): void => {
    server.registerTool('ask', {}, async (ctx) => {
      outcomes.push(await askLive(ctx, 'units', question).catch((error: unknown) => error));
      return textResult('');
    });
  };

/** The tool's answer or error for an old client whose user gives `replies`, one after the other. */
async function ask(...replies: Record<string, unknown>[]): Promise<{ outcome: unknown; asked: string[] }> {
  const outcomes: unknown[] = [];
  const asked: string[] = [];
  const client = await oldClient(hostTools(asking(outcomes)), (params) => {
    asked.push((params as { message: string }).message);
    return replies[Math.min(asked.length, replies.length) - 1] ?? {};
  });
  await client.callTool({ name: 'ask' });
  return { outcome: outcomes[0], asked };
}

test('an old client is asked over its stream, and its answer is read', async () => {
  const { outcome, asked } = await ask(metric);
  expect(outcome).toEqual({ kind: 'accepted', value: { units: 'metric' } });
  expect(asked).toEqual(['Which units?']);
});

test.each([
  ['decline', { kind: 'declined' }],
  ['cancel', { kind: 'cancelled' }],
])('a user who says no (%s) is asked once', async (action, outcome) => {
  expect(await ask({ action }, metric)).toEqual({ outcome, asked: ['Which units?'] });
});

test('a question is asked again after an answer that does not fit and after an empty one', async () => {
  const kelvin = { action: 'accept', content: { units: 'kelvin' } };
  const { outcome, asked } = await ask(kelvin, { action: 'accept' }, metric);
  expect(outcome).toEqual({ kind: 'accepted', value: { units: 'metric' } });
  expect(asked).toHaveLength(3);
});

test('the eighth answer may still fit', async () => {
  const nonsense = Array(7).fill({ action: 'accept', content: { units: 'kelvin' } });
  const { outcome, asked } = await ask(...nonsense, metric);
  expect(outcome).toEqual({ kind: 'accepted', value: { units: 'metric' } });
  expect(asked).toHaveLength(8);
});

test('after the eighth answer that does not fit, the question is not asked again', async () => {
  const asks = eventsOf('mrtr:ask');
  const { outcome, asked } = await ask({ action: 'accept', content: { units: 'kelvin' } });
  expect(outcome).toMatchObject({
    code: 'rounds_exceeded',
    message: 'No usable answer to "Which units?" in 8 attempts.',
  });
  expect(asked).toHaveLength(8);
  const { call } = asks[0] ?? {};
  expect(call).toMatch(/^[\w-]{22}$/);
  expect(asks).toEqual(Array(8).fill({ call, target: 'ask', keys: ['units'], live: true }));
});

test('a client that fails to show the question fails the call', async () => {
  const outcomes: unknown[] = [];
  const client = await oldClient(hostTools(asking(outcomes)), () => {
    throw new Error('no screen');
  });
  await client.callTool({ name: 'ask' });
  expect(outcomes).toEqual([expect.objectContaining({ message: expect.stringContaining('no screen') })]);
});

test('a client that did not declare elicitation is not asked, and the error says so', async () => {
  const outcomes: unknown[] = [];
  const asks = eventsOf('mrtr:ask');
  await (await oldClient(hostTools(asking(outcomes)))).callTool({ name: 'ask' });
  expect(outcomes).toMatchObject([
    { code: 'cannot_ask', message: 'Cannot ask: the client did not declare the elicitation capability.' },
  ]);
  expect(asks).toEqual([]);
});

test('a client is asked only for the kinds that it declared', async () => {
  const outcomes: unknown[] = [];
  const client = await oldClient(hostTools(asking(outcomes, listRoots())), () => metric);
  await client.callTool({ name: 'ask' });
  expect(outcomes).toMatchObject([
    { code: 'cannot_ask', message: 'Cannot ask: the client did not declare the roots capability.' },
  ]);
});

test('an old client on stateless serving has no stream, and the error says so at once', async () => {
  const outcomes: unknown[] = [];
  await hostTools(asking(outcomes)).post('tools/call', { name: 'ask' }, { legacy: true });
  expect(outcomes).toMatchObject([
    {
      code: 'cannot_ask',
      message:
        'Cannot ask: no live connection to the client is open (stateless serving of a 2025-11-25 client).',
    },
  ]);
});

test('a client at 2026-07-28 has no stream either, and the error says what to do', async () => {
  const outcomes: unknown[] = [];
  await hostTools(asking(outcomes)).post('tools/call', { name: 'ask' });
  expect(outcomes).toMatchObject([
    {
      code: 'cannot_ask',
      message: 'Cannot ask live: a client at 2026-07-28 is asked by returning input_required.',
    },
  ]);
});

test.each<[string, (host: Hosted) => Promise<unknown>]>([
  [
    'an old client that did not declare elicitation',
    async (host) => (await oldClient(host)).callTool({ name: 'ask' }),
  ],
  [
    'an old client on stateless serving',
    (host) => host.post('tools/call', { name: 'ask' }, { legacy: true }),
  ],
  [
    'a client at 2026-07-28 without elicitation',
    (host) => host.post('tools/call', { name: 'ask' }, { capabilities: {} }),
  ],
])('%s gets the question’s `fallback`', async (_whom, call) => {
  const outcomes: unknown[] = [];
  const asks = eventsOf('mrtr:ask');
  const question = elicitation('Which units?', z.object({ units: z.string() }), {
    fallback: { units: 'metric' },
  });
  await call(hostTools(asking(outcomes, question)));
  expect(outcomes).toEqual([{ kind: 'accepted', value: { units: 'metric' } }]);
  expect(asks).toEqual([]);
});
