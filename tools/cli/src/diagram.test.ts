import { stripVTControlCharacters } from 'node:util';
import type { Reply } from '@mrtr/harness';
import { Writer } from '@mrtr/harness/internal';
import type { Happening, Transcript, TranscriptEvent, WireMessage } from '@mrtr/harness/transcript';
import { expect, test } from 'vitest';
import { drawCall } from './show-call.ts';
import { diagram, terminalWith } from './terminal.test-support.ts';
import { type Environment, paintFor, plain } from './terminal.ts';

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
const fromServer = (message: WireMessage): Happening => ({
  kind: 'message',
  from: 'i1',
  to: 'client',
  message,
});
const toolCall = (id: number, params: object): Happening => ({
  kind: 'message',
  from: 'client',
  to: 'i1',
  message: { id, method: 'tools/call', params },
});
const says = (text: string) => ({ content: [{ type: 'text', text }] });
const tokyo = { name: 'get_weather', arguments: { location: 'Tokyo' } };

test('a tool error, a JSON-RPC error and a rejected state each have their own drawing, once', () => {
  const message = 'Invalid or expired requestState';
  const lines = diagram(
    transcript(
      [
        toolCall(0, tokyo),
        fromServer({ id: 0, result: { ...says('No such place.'), isError: true } }),
        toolCall(1, { ...tokyo, requestState: 'forged' }),
        { kind: 'state', instance: 'i1', phase: 'rejected', bytes: 153 },
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

test('the browser of a user is drawn at the client', () => {
  const lines = diagram(
    transcript([
      toolCall(0, tokyo),
      { kind: 'visit', from: 'client', url: 'http://127.0.0.1:3000/link/start?id=1', status: 303 },
      fromServer({ id: 0, result: says('Linked.') }),
    ]),
  );
  expect(lines.filter((line) => line.includes('browser'))).toEqual([
    expect.stringMatching(/^ {4}│ {2}☺ browser: .*\/link\/start.* 303/),
  ]);
});

test('colours appear only on a terminal that shows them, and change nothing else', () => {
  const stream = (isTTY: boolean, colours: boolean, env: Environment = {}) =>
    paintFor({ stdout: new Writer({ write: () => {}, isTTY, hasColors: () => colours }), env });
  const entry: Happening = { kind: 'entry', instance: 'i1', part: 'handler' };
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
