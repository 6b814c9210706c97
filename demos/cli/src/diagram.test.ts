import { stripVTControlCharacters } from 'node:util';
import type { Conversation, Transcript, TranscriptEvent } from '@mrtr/harness';
import { expect, test } from 'vitest';
import { Diagram, diagram } from './diagram.ts';
import { paintFor } from './paint.ts';
import { columns } from './printable.ts';

const toolCall = (id: number, params: object): TranscriptEvent => ({
  kind: 'wire',
  from: 'client',
  message: { jsonrpc: '2.0', id, method: 'tools/call', params },
});
const fromServer = (message: object): TranscriptEvent => ({
  kind: 'wire',
  from: 'server',
  message: { jsonrpc: '2.0', ...message },
});
const question = { message: 'Which units?', requestedSchema: { properties: { units: {} } } };
const asks = (message: string) => ({ method: 'elicitation/create', params: { ...question, message } });
const said = (text: string) => ({ role: 'assistant', content: { type: 'text', text }, model: 'm' }) as const;
const prompts = (text: string) => ({
  method: 'sampling/createMessage',
  params: { maxTokens: 1, messages: [{ role: 'user', content: { type: 'text', text } } as const] },
});
const says = (text: string) => ({ content: [{ type: 'text', text }] });
const metric: TranscriptEvent = {
  kind: 'user',
  question,
  reply: { action: 'accept', content: { units: 'metric' } },
};
const tokyo = { name: 'get_weather', arguments: { location: 'Tokyo' } };
const STATE = 's'.repeat(153);

const conversation = (transcript: Transcript, rest: Partial<Conversation> = {}): Conversation => ({
  transcript,
  result: undefined,
  error: undefined,
  framesHeld: 0,
  ...rest,
});
const drawn = (transcript: Transcript, rest: Partial<Conversation> = {}) =>
  `\n${diagram(conversation(transcript, rest), 'audits').join('\n')}\n`;

test('two rounds on a modern client, nothing open at the server while the user thinks', () => {
  const modern = drawn([
    toolCall(0, tokyo),
    { kind: 'entry' },
    { kind: 'effect', key: 'audit', phase: 'ran' },
    { kind: 'audit', entry: 'Tokyo' },
    { kind: 'state', phase: 'sealed', bytes: 153 },
    fromServer({
      id: 0,
      result: {
        resultType: 'input_required',
        inputRequests: { units: asks('Which units?') },
        requestState: STATE,
      },
    }),
    metric,
    toolCall(1, { ...tokyo, inputResponses: { units: {} }, requestState: STATE }),
    { kind: 'state', phase: 'opened', bytes: 153 },
    { kind: 'entry' },
    { kind: 'effect', key: 'audit', phase: 'held' },
    fromServer({ id: 1, result: says('Weather in Tokyo: 22°C, partly cloudy.') }),
  ]);
  expect(modern).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  tools/call get_weather {"location":"Tokyo"}                   │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │                                            effect audit: runs  ┃
        │                                                ✎ audit: Tokyo  ┃
        │  input_required  units: "Which units?"    state 153 B, sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ☺ metric                                                      │
        │  tools/call get_weather + units, state                         │
        ├───────────────────────────────────────────────────────────────▶┃ entry 2
        │                                       effect audit: held back  ┃
        │  Weather in Tokyo: 22°C, partly cloudy.                        ┃
        │◀───────────────────────────────────────────────────────────────┤

      2 rounds · handler entered 2× · audit written 1× · nothing held between rounds
    "
  `);
});

test('an old client is asked by the server, over the stream that its call holds open', () => {
  const legacy = drawn([
    toolCall(1, tokyo),
    { kind: 'entry' },
    fromServer({ id: 0, ...asks('Which units?') }),
    metric,
    {
      kind: 'wire',
      from: 'client',
      message: { id: 0, result: { action: 'accept', content: { units: 'metric' } } },
    },
    { kind: 'audit', entry: 'Tokyo' },
    fromServer({ method: 'notifications/message', params: {} }),
    fromServer({ id: 1, result: says('Weather in Tokyo: 22°C, partly cloudy.') }),
  ]);
  expect(legacy).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  tools/call get_weather {"location":"Tokyo"}                   │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │  elicitation/create  "Which units?"                            ┃
        │◀───────────────────────────────────────────────────────────────┨
        │  ☺ metric                                                      ┃
        │  accept {"units":"metric"}                                     ┃
        ├───────────────────────────────────────────────────────────────▶┃
        │                                                ✎ audit: Tokyo  ┃
        │  Weather in Tokyo: 22°C, partly cloudy.                        ┃
        │◀───────────────────────────────────────────────────────────────┤

      1 round · handler entered 1× · audit written 1× · a stream held open
    "
  `);
});

test('a handler that goes on where it stood has no second entry, and its frame is in the closing line', () => {
  const item = { id: 4522, state: 'Resolved', resolution: 'Duplicate', original: 4301 } as const;
  const frame = drawn(
    [
      toolCall(0, tokyo),
      { kind: 'entry' },
      fromServer({
        id: 0,
        result: {
          resultType: 'input_required',
          inputRequests: { how: asks('How?'), which: asks('Which?') },
          requestState: 'plain',
        },
      }),
      { kind: 'user', question, reply: { action: 'cancel' } },
      toolCall(1, { ...tokyo, inputResponses: { how: {} }, requestState: 'plain' }),
      { kind: 'write', item },
      fromServer({ id: 1, result: says('Cancelled.') }),
    ],
    { framesHeld: 1 },
  );
  expect(frame).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  tools/call get_weather {"location":"Tokyo"}                   │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │  input_required  how: "How?"                                   ┃
        │                  which: "Which?"        state 5 B, not sealed  ┃
        │◀───────────────────────────────────────────────────────────────┤
        │  ☺ dismisses the question                                      │
        │  tools/call get_weather + how, state                           │
        ├───────────────────────────────────────────────────────────────▶┃
        │                ✎ write: #4522 resolved as Duplicate of #4301.  ┃
        │  Cancelled.                                                    ┃
        │◀───────────────────────────────────────────────────────────────┤

      2 rounds · handler entered 1× · audit written 0× · 1 frame held between rounds
    "
  `);
});

test('a tool error, a JSON-RPC error and a rejected state are drawn as what they are', () => {
  const isError = drawn([
    toolCall(0, tokyo),
    { kind: 'entry' },
    fromServer({ id: 0, result: { ...says('No such place.'), isError: true } }),
  ]);
  const rpcError = drawn(
    [
      toolCall(0, { ...tokyo, requestState: 'forged' }),
      { kind: 'state', phase: 'rejected', bytes: 6 },
      fromServer({ id: 0, error: { code: -32602, message: 'Invalid or expired requestState' } }),
    ],
    { error: 'MCP error -32602: Invalid or expired requestState' },
  );
  expect(isError + rpcError).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  tools/call get_weather {"location":"Tokyo"}                   │
        ├───────────────────────────────────────────────────────────────▶┃ entry 1
        │  ✗ No such place.                                     isError  ┃
        │◀───────────────────────────────────────────────────────────────┤

      1 round · handler entered 1× · audit written 0× · nothing held between rounds

      client                                                          server
        │  tools/call get_weather + state                                │
        ├───────────────────────────────────────────────────────────────▶┃
        │                                              ✗ state rejected  ┃
        │  ✗ error -32602  Invalid or expired requestState               ┃
        │◀───────────────────────────────────────────────────────────────┤

      1 round · handler entered 0× · audit written 0× · nothing held between rounds
    "
  `);
});

test("an error that no message brought is shown at the client's side, once", () => {
  expect(drawn([], { error: 'The client does not speak 2026-07-28.' })).toMatchInlineSnapshot(`
    "
      client                                                          server
        │  ✗ The client does not speak 2026-07-28.                       │

      0 rounds · handler entered 0× · audit written 0× · nothing held between rounds
    "
  `);
});

test('nothing that is said can leave the frame or command the terminal', () => {
  const hostile = [
    `\u001b[2J\u001b]0;title\u0007\u009b31m${'長い場所の名前'.repeat(12)}\r\nnext \u202edesrever`,
    '👩‍👩‍👧‍👦 é\u0301\u200b ｆｕｌｌ ｗｉｄｔｈ \ud800 '.repeat(9),
    'x'.repeat(500),
    'two\nlines\tand a tab',
    '',
  ];
  for (const text of hostile) {
    const lines = diagram(
      conversation(
        [
          toolCall(0, { name: text, arguments: { location: text } }),
          { kind: 'entry' },
          { kind: 'effect', key: text, phase: 'ran' },
          { kind: 'audit', entry: text },
          fromServer({
            id: 0,
            result: {
              resultType: 'input_required',
              inputRequests: { [text]: asks(text) },
              requestState: text,
            },
          }),
          { kind: 'user', question, reply: { action: 'accept', content: { [text]: text, more: text } } },
          toolCall(1, { name: text, inputResponses: { [text]: {} } }),
          fromServer({ id: 1, ...asks(text) }),
          fromServer({ id: 2, ...prompts(text) }),
          { kind: 'model', params: prompts(text).params, result: said(text) },
          { kind: 'wire', from: 'client', message: { id: 2, result: said(text) } },
          { kind: 'roots', roots: [{ uri: text, name: text }, { uri: text }] },
          { kind: 'wire', from: 'client', message: { id: 1, result: { action: text, content: text } } },
          fromServer({ id: 1, result: says(text) }),
          toolCall(3, { uri: text }),
          fromServer({
            id: 3,
            result: {
              contents: [
                { uri: text, text },
                { uri: text, mimeType: text, blob: '' },
              ],
            },
          }),
          toolCall(4, {}),
          fromServer({ id: 4, result: { messages: [{ role: text, content: { type: 'text', text } }] } }),
        ],
        { error: text },
      ),
      'audits',
    );
    const inside = lines.slice(1, -2);
    for (const line of inside) {
      expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
      expect(line).toMatch(/^ {4}[│├].*[│┃┨┤]( .*)?$/u);
      if (!line.endsWith('1')) expect(columns(line)).toBe(70);
    }
  }
});

test('a message that holds nothing is drawn all the same', () => {
  const empty = new Diagram();
  expect([
    ...empty.next(toolCall(0, {})),
    ...empty.next(fromServer({ id: 0, result: { resultType: 'input_required', requestState: 7 } })),
    ...empty.next({ kind: 'user', question, reply: 'silence' }),
    ...empty.next(toolCall(1, { name: 'x', inputResponses: {} })),
    ...empty.next(fromServer({ id: 1, result: { content: [{ type: 'image' }] } })),
    ...empty.next({ kind: 'wire', from: 'client', message: { method: 'notifications/cancelled' } }),
  ]).toMatchInlineSnapshot(`
    [
      "    │  tools/call                                                    │",
      "    ├───────────────────────────────────────────────────────────────▶┃",
      "    │  input_required                                                ┃",
      "    │◀───────────────────────────────────────────────────────────────┤",
      "    │  ☺ says nothing                                                │",
      "    │  tools/call x + nothing                                        │",
      "    ├───────────────────────────────────────────────────────────────▶┃",
      "    │  (image)                                                       ┃",
      "    │◀───────────────────────────────────────────────────────────────┤",
    ]
  `);
});

test('colours go to a terminal that shows them, and change nothing else', () => {
  const stream = (isTTY: boolean, colours: boolean) =>
    paintFor({ isTTY, hasColors: () => colours } as unknown as NodeJS.WriteStream);
  const call = conversation([
    toolCall(0, tokyo),
    { kind: 'entry' },
    fromServer({ id: 0, result: says('Sun.') }),
  ]);
  const uncoloured = diagram(call, 'audits');
  const coloured = diagram(call, 'audits', stream(true, true));
  expect(coloured.join('')).toContain('\u001b[');
  expect(coloured.map(stripVTControlCharacters)).toEqual(uncoloured);
  expect(diagram(call, 'audits', stream(false, true))).toEqual(uncoloured);
  expect(diagram(call, 'audits', stream(true, false))).toEqual(uncoloured);
});
