import type { McpServer } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { eventsOf, type Hosted, hostTools, oldClient } from '../admission/hosted.test-support.ts';
import { elicitation } from '../questions/elicitation.ts';
import { listRoots } from '../questions/model-and-roots.ts';
import type { Question } from '../questions/question.ts';
import { textResult } from '../results.ts';
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

test('after the third answer that does not fit, the question is not asked again, and each prompt after the first says why', async () => {
  const asks = eventsOf('mrtr:ask');
  const [outcomes, asked]: [unknown[], string[]] = [[], []];
  const client = await oldClient(hostTools(asking(outcomes)), (params) => {
    asked.push((params as { readonly message: string }).message);
    return { action: 'accept', content: { units: 'kelvin' } };
  });
  await client.callTool({ name: 'ask' });
  const why = "The last answer did not fit. “units”: “Invalid option: expected one of 'metric'|'imperial'”";
  const message = `No answer to the question 'units' fitted, so it is not asked again. ${why}`;
  expect(outcomes).toMatchObject([{ code: 'rounds_exceeded', message }]);
  expect(asked).toEqual(['Which units?', ...Array(2).fill(`Which units?\n\n${why}`)]);
  const { call } = asks[0] ?? {};
  expect(call).toMatch(/^[\w-]{22}$/);
  expect(asks).toEqual(Array(3).fill({ call, target: 'ask', keys: ['units'], live: true }));
});

test('an answer that comes after its client has cancelled does not count', async () => {
  const outcomes: unknown[] = [];
  const cancelling = new AbortController();
  const client = await oldClient(hostTools(asking(outcomes)), () => {
    cancelling.abort(new Error('changed my mind'));
    return metric;
  });
  const called = client.callTool({ name: 'ask' }, undefined, { signal: cancelling.signal });
  await expect(called).rejects.toThrow('changed my mind');
  await vi.waitFor(() => expect(outcomes).toEqual([expect.any(Error)]));
});

type Call = (host: Hosted) => Promise<unknown>;
const oldAndMute: Call = async (host) => (await oldClient(host)).callTool({ name: 'ask' });
const stateless: Call = (host) => host.post('tools/call', { name: 'ask' }, { legacy: true });

test.each<[string, Question, Call, string]>([
  [
    'an old client that did not declare elicitation',
    units,
    oldAndMute,
    'Cannot ask: the client did not declare the elicitation capability.',
  ],
  [
    'a client that declared another kind',
    listRoots(),
    async (host) => (await oldClient(host, () => metric)).callTool({ name: 'ask' }),
    'Cannot ask: the client did not declare the roots capability.',
  ],
  [
    'an old client on stateless serving, which has no stream,',
    units,
    stateless,
    'Cannot ask: no live connection to the client is open (stateless serving of a 2025-11-25 client).',
  ],
  [
    'a client at 2026-07-28, which has no stream either,',
    units,
    (host) => host.post('tools/call', { name: 'ask' }),
    'Cannot ask live: a client at 2026-07-28 is asked by returning input_required.',
  ],
])('%s is not asked, and the error says why', async (_whom, question, call, message) => {
  const outcomes: unknown[] = [];
  const asks = eventsOf('mrtr:ask');
  await call(hostTools(asking(outcomes, question)));
  expect(outcomes).toMatchObject([{ code: 'cannot_ask', message }]);
  expect(asks).toEqual([]);
});

test.each<[string, Call]>([
  ['an old client that did not declare elicitation', oldAndMute],
  ['an old client on stateless serving', stateless],
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
