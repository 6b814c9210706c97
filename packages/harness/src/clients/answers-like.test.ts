/** Simulated clients: each sends what it says, to a form that draws it out, in both eras. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { converse } from '../conversations/converse.ts';
import { host } from '../hosts/host.ts';
import { messagesFrom, type Transcript } from '../transcript/index.ts';
import { answersLike, CLIENT_BEHAVIOURS } from './answers-like.ts';

const TEXT = { type: 'string' } as const;
const NUMBER = { type: 'integer' } as const;
const COLOURS = [
  { const: 'r', title: 'Red' },
  { const: 'b', title: 'Blue' },
];
const CHOICE = { type: 'string', oneOf: COLOURS } as const;
const LIST = { type: 'array', items: { type: 'string', enum: ['r', 'b'] } } as const;
const TITLED = { type: 'string', enum: ['r', 'b'], enumNames: ['Red', 'Blue'] } as const;

/** A server that asks the form. */
const asking = (properties: object, required: readonly string[]) => () => {
  const server = new McpServer({ name: 'asking', version: '1.0.0' });
  server.registerTool('ask', {}, async ({ mcpReq }) => {
    const requestedSchema = { type: 'object', properties, required } as never;
    const form = inputRequired.elicit({ message: 'Which?', requestedSchema });
    return mcpReq.inputResponses ? { content: [] } : inputRequired({ inputRequests: { form } });
  });
  return server;
};

/** The content that went out: in a retry, or in the response to an old server's request. */
function findSent({ events }: Transcript): unknown {
  const answers = messagesFrom('client', events).map((message) => {
    const { params, result } = message as { params?: { inputResponses?: { form: object } }; result?: object };
    return (params?.inputResponses?.form ?? result) as { readonly content?: object } | undefined;
  });
  return answers.find((answer) => answer?.content)?.content;
}

const call = { method: 'tools/call', params: { name: 'ask' } } as const;

/** What it does, the fields of a form, what its user enters, and what is sent. */
const CASES: readonly [(typeof CLIENT_BEHAVIOURS)[number], object, object, object][] = [
  ['approves a form with a number or a list', { name: TEXT, count: NUMBER }, { name: 'Ada', count: 3 }, {}],
  ['approves a form with a number or a list', { name: TEXT }, { name: 'Ada' }, { name: 'Ada' }],
  ['sends an empty text', { name: TEXT, note: TEXT }, { name: 'Ada' }, { name: 'Ada', note: '' }],
  [
    'sends 0 for an empty number',
    { name: TEXT, count: { type: 'number' } },
    { name: 'Ada' },
    { name: 'Ada', count: 0 },
  ],
  [
    'sends null for an empty number',
    { name: TEXT, count: NUMBER },
    { name: 'Ada' },
    { name: 'Ada', count: null },
  ],
  ['sends an empty list', { name: TEXT, colours: LIST }, { name: 'Ada' }, { name: 'Ada', colours: [] }],
  [
    'asks for choices as text',
    { name: LIST, one: TITLED, other: CHOICE },
    { name: ['r', 'b'], one: 'b', other: 'r' },
    { name: 'r, b', one: 'Blue', other: 'Red' },
  ],
  [
    'sends a time without a zone',
    { name: { ...TEXT, format: 'date-time' } },
    { name: '2026-02-03T10:00:00Z' },
    { name: '2026-02-03T10:00' },
  ],
];

test.each(CASES)('a client that %s does so in both eras', async (behaviour, properties, typed, sent) => {
  for (const client of ['modern', 'legacy'] as const) {
    const user = answersLike(behaviour, { ...typed, elsewhere: 'not of this form' });
    const transcript = await converse({ client, call, user }, () =>
      host('memory', () => ({ server: asking(properties, ['name']) })),
    );
    expect(findSent(transcript)).toEqual(sent);
  }
});

test('a required field without a value ends the call with an error that names it', async () => {
  const { end } = await converse({ client: 'modern', call, user: answersLike('sends an empty list') }, () =>
    host('memory', () => ({ server: asking({ name: TEXT, colours: LIST }, ['name']) })),
  );
  expect(end.error?.message).toContain(`'name' ("Which?") is required.`);
});

test('each behaviour is tested', () => {
  expect([...new Set(CASES.map(([behaviour]) => behaviour))]).toEqual(CLIENT_BEHAVIOURS);
  expect(CLIENT_BEHAVIOURS).toHaveLength(7);
});
