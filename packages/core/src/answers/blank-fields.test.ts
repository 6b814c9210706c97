/** Clients send a field that their user left empty as '', null or []. It counts as left out, if the form allows that. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { eventsOf, hostTools, oldClient } from '../admission/hosted.test-support.ts';
import { elicitation } from '../questions/elicitation.ts';
import { textResult } from '../results.ts';
import { ask } from './ask.ts';
import { askLive } from './ask-live.ts';
import { readAnswer } from './read-answer.ts';

const Order = z.object({
  name: z.string(),
  email: z.email().optional(),
  size: z.enum(['s', 'l']).optional(),
  note: z.string().min(2).optional(),
  guests: z.int().min(1).default(1),
  days: z
    .array(z.enum(['mo', 'tu']))
    .min(1)
    .optional(),
});
const order = elicitation('What may it be?', Order);
const accept = (content: object) => ({ action: 'accept', content });

test.each<[string, object]>([
  ['text with a format', { email: '' }],
  ['choice', { size: '' }],
  ['text with a minimum', { note: '' }],
  ['number', { guests: null }],
  ['several choices', { days: [] }],
  ['form', { email: '', size: '', note: '', guests: null, days: [] }],
])('a blank optional %s counts as left out', (_what, blank) => {
  expect(order.read(accept({ name: 'Ada', ...blank }))).toEqual({
    kind: 'accepted',
    value: { name: 'Ada', guests: 1 },
  });
});

test.each<[string, object, PropertyKey]>([
  ['a blank required field', { name: null }, 'name'],
  ['an untouched number that is sent as 0', { name: 'Ada', guests: 0 }, 'guests'],
  ['a text of spaces', { name: 'Ada', email: ' ' }, 'email'],
  ['a wrong field beside blank ones', { name: 'Ada', size: 'xl', email: '', guests: null }, 'size'],
])('%s does not fit, and only that is said', (_what, content, field) => {
  expect(order.read(accept(content))).toEqual({
    kind: 'invalid',
    issues: [expect.objectContaining({ path: [field] })],
  });
});

test('blank fields that fit stay in the answer', () => {
  const note = elicitation(
    'Any note?',
    z.object({ note: z.string().optional(), tags: z.array(z.enum(['a'])) }),
  );
  const blank = { note: '', tags: [] };
  expect(note.read(accept(blank))).toEqual({ kind: 'accepted', value: blank });
});

const tool = (outcomes: unknown[]) =>
  hostTools((server) => {
    server.registerTool('order', {}, async (ctx) => {
      const answer = readAnswer(ctx, 'order', order);
      if (answer.kind !== 'accepted') return ask({ order });
      outcomes.push(answer.value);
      return textResult('');
    });
    server.registerTool('live', {}, async (ctx) => {
      outcomes.push(await askLive(ctx, 'order', order));
      return textResult('');
    });
  });

test('a new client may send null', async () => {
  const outcomes: unknown[] = [];
  const { post } = tool(outcomes);
  const { result } = await post('tools/call', { name: 'order' });
  const { requestState } = result as { readonly requestState: string };
  const inputResponses = { order: accept({ name: 'Ada', guests: null }) };
  await post('tools/call', { name: 'order', requestState, inputResponses });
  expect(outcomes).toEqual([{ name: 'Ada', guests: 1 }]);
});

test('an old client may send null, which the schema of the SDK rejects, and is asked once', async () => {
  const [outcomes, asks]: [unknown[], unknown[]] = [[], eventsOf('mrtr:ask')];
  const client = await oldClient(tool(outcomes), () =>
    accept({ name: 'Ada', email: 'NULL', guests: 'NULL' }),
  );
  const { transport } = client;
  // The SDK's client checks what it sends, so null is put in on the way.
  const send = transport?.send.bind(transport);
  Object.assign(transport ?? {}, {
    send: (message: object) => send?.(JSON.parse(JSON.stringify(message).replaceAll('"NULL"', 'null'))),
  });
  const left = { name: 'Ada', guests: 1 };
  await client.callTool({ name: 'order' });
  await client.callTool({ name: 'live' });
  expect(outcomes).toEqual([left, { kind: 'accepted', value: left }]);
  expect(asks).toHaveLength(2);
});
