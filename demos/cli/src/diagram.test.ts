import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { Reply } from '@mrtr/harness';
import type { Happening, Transcript, TranscriptEvent, WireMessage } from '@mrtr/harness/transcript';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Diagram, diagram } from './diagram.ts';
import { paintFor, plain } from './paint.ts';
import { columns } from './printable.ts';
import { drawCall } from './stage.ts';
import { terminalWith } from './terminal.test-support.ts';
import type { Environment } from './terminal.ts';

const transcript = (
  happenings: readonly Happening[],
  end: Transcript['end'] = { result: { content: [] } },
) => ({
  format: 'mrtr-transcript' as const,
  version: 1 as const,
  title: 'drawn',
  participants: [],
  events: happenings.map((happening, at) => ({ ...happening, at })),
  end,
});
const fromClient = (message: WireMessage): Happening => ({
  kind: 'message',
  from: 'client',
  to: 'i1',
  message,
});
const fromServer = (message: WireMessage): Happening => ({
  kind: 'message',
  from: 'i1',
  to: 'client',
  message,
});
const toolCall = (id: number, params: object) => fromClient({ id, method: 'tools/call', params });
const asks = (message: string) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: {} },
});
const says = (text: string) => ({ content: [{ type: 'text', text }] });
const entry: Happening = { kind: 'entry', instance: 'i1', part: 'handler' };
const stateEvent = (phase: 'sealed' | 'rejected'): Happening => ({
  kind: 'state',
  instance: 'i1',
  phase,
  bytes: 153,
});
const tokyo = { name: 'get_weather', arguments: { location: 'Tokyo' } };

test('a tool error, a JSON-RPC error and a rejected state each have their own drawing, once', () => {
  const message = 'Invalid or expired requestState';
  const lines = diagram(
    transcript(
      [
        toolCall(0, tokyo),
        fromServer({ id: 0, result: { ...says('No such place.'), isError: true } }),
        toolCall(1, { ...tokyo, requestState: 'forged' }),
        stateEvent('rejected'),
        fromServer({ id: 1, error: { code: -32602, message } }),
      ],
      { error: { message: `MCP error -32602: ${message}`, code: -32602 } },
    ),
  );
  expect(lines.filter((line) => /[✗⊘]/.test(line)).map((line) => line.trim())).toEqual([
    expect.stringMatching(/^│ {2}✗ No such place\. +isError {2}┃$/),
    expect.stringMatching(/⊘ state rejected {2}┃$/),
    expect.stringMatching(/^│ {2}⊘ error -32602 {2}Invalid or expired requestState +┃$/),
  ]);
});

const asking = (text: string) => ({
  resultType: 'input_required',
  inputRequests: { [text]: asks(text) },
});
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    `\u001b[2J\u001b]0;title\u0007\u009b31m${'長い場所の名前'.repeat(12)}\r\nnext \u202edesrever`,
    '👩‍👩‍👧‍👦 é\u0301\u200b ｆｕｌｌ ｗｉｄｔｈ \ud800 '.repeat(9),
    'x'.repeat(500),
    'two\nlines\tand a tab',
    '',
  ),
);
const id = fc.constantFrom(0, 1);
/** One for each way in which a text comes into the drawing. */
const happening: fc.Arbitrary<Happening> = fc
  .tuple(hostile, id)
  .chain(([text, id]) =>
    fc.constantFrom<Happening>(
      entry,
      stateEvent('rejected'),
      { kind: 'entry', instance: 'i1', part: 'resolver', name: text },
      { kind: 'effect', instance: 'i1', name: text, detail: text },
      { kind: 'answer', from: 'person', id, reply: { action: 'accept', content: { [text]: text } } },
      { kind: 'roots', roots: [{ uri: text, name: text }, { uri: text }], framesHeld: 0 },
      toolCall(id, { name: text, arguments: { location: text } }),
      toolCall(id, { uri: text, inputResponses: { [text]: {} } }),
      fromClient({ id, result: { action: text, content: text } }),
      fromServer({ id, result: { ...asking(text), requestState: text } }),
      fromServer({ id, result: says(text) }),
      fromServer({ id, result: { ...says(text), isError: true } }),
      fromServer({ id, error: { code: text, message: text } }),
      fromServer({ id, ...asks(text) }),
    ),
  );

test('no text can leave the frame or send commands to the terminal', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 12 }), hostile, (happenings, message) => {
      const drawing = new Diagram();
      const { events, end } = transcript(happenings, { error: { message } });
      for (const line of [...events.flatMap((event) => drawing.next(event)), ...drawing.end({ end })]) {
        expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
        expect(line).toMatch(/^ {4}[│├].*[│┃┨┤]( entry \d+)?$/u);
        expect(columns(line.replace(/ entry \d+$/, ''))).toBe(70);
      }
    }),
  );
});

test('colours appear only on a terminal that shows them, and change nothing else', () => {
  const stream = (isTTY: boolean, colours: boolean, env: Environment = {}) =>
    paintFor({ stdout: Object.assign(new PassThrough(), { isTTY, hasColors: () => colours }), env });
  const call = transcript([toolCall(0, tokyo), entry, fromServer({ id: 0, result: says('Sun.') })]);
  const uncoloured = diagram(call);
  const coloured = diagram(call, stream(true, true));
  expect(coloured.join('')).toContain('\u001b[');
  expect(coloured.map(stripVTControlCharacters)).toEqual(uncoloured);
  expect(diagram(call, stream(false, true))).toEqual(uncoloured);
  expect(diagram(call, stream(true, false))).toEqual(uncoloured);
  expect(diagram(call, stream(false, false, { FORCE_COLOR: '1' }))).toEqual(coloured);
  expect(diagram(call, stream(true, true, { FORCE_COLOR: '0' }))).toEqual(uncoloured);
});

test('nothing is drawn while the person types an answer', async () => {
  const terminal = terminalWith();
  const at = { at: 0, framesHeld: 0 };
  const makeCall = async (onEvent: (event: TranscriptEvent) => void) => {
    onEvent({ kind: 'question', to: 'person', id: 1, message: 'Sure?', schema: {}, ...at });
    onEvent({ kind: 'roots', roots: [], ...at });
    terminal.stdout.write('TYPED');
    onEvent({ kind: 'answer', from: 'person', id: 1, reply: { action: 'cancel' }, ...at });
    return { end: { result: { content: [] } } } as unknown as Transcript;
  };
  await drawCall({ terminal, paint: plain }, makeCall, () => 'Closed.');
  expect(terminal.said().out).toMatch(/TYPED[\s\S]+│ {2}◇ roots: none[\s\S]+☺[\s\S]+Closed\./);
});

test('an answer that does not fit its form is drawn with the reason', () => {
  const properties = { units: { enum: ['metric', 'imperial'] } };
  const schema = { type: 'object', properties, required: ['units'] };
  const asked: Happening = {
    kind: 'question',
    to: 'person',
    id: 1,
    message: 'Units?',
    schema,
    framesHeld: 0,
  };
  const drawReply = (reply: Reply) =>
    diagram(transcript([asked, { kind: 'answer', from: 'person', id: 1, reply }])).join('\n');
  const drawContent = (content: { units?: string }) => drawReply({ action: 'accept', content });
  expect(drawContent({ units: 'kelvin' })).toContain('does not fit: units must be one of the allowed values');
  expect(drawContent({})).toContain("does not fit: data must have required property 'units'");
  expect(drawContent({ units: 'metric' })).not.toContain('does not fit');
  expect(drawReply({ action: 'decline' })).not.toContain('does not fit');
});
