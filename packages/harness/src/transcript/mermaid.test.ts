import fc from 'fast-check';
import { expect, test } from 'vitest';
import { converse } from '../conversations/converse.ts';
import { CALL, deployer } from '../deployer.test-support.ts';
import { host, scriptedUser } from '../index.ts';
import { type Transcript, type TranscriptEvent, toMermaid } from './index.ts';

test('a conversation on a fleet is a sequence diagram, with an arrow to the instance that each round reached', async () => {
  const transcript = await converse({ ...CALL, user: scriptedUser({ sure: [true] }) }, () =>
    host('fleet', () => ({ server: deployer })),
  );
  expect(toMermaid(transcript)).toMatchInlineSnapshot(`
    "sequenceDiagram
      title tools/call deploy
      actor P0 as user
      participant P1 as modern client
      participant P2 as server 1
      participant P3 as server 2
      participant P4 as server 3
      P1->>P3: tools/call deploy {"env":"staging"}
      Note over P3: step sure
      Note over P3: state sealed, 5 B
      P3-->>P1: input_required sure: "Deploy to staging?"
      P1->>P0: Deploy to staging?
      P0-->>P1: yes
      P1->>P4: tools/call deploy + sure, state
      Note over P4: step sure
      Note over P4: effect deploy: runs
      Note over P4: deploy: staging
      P4-->>P1: Deployed to staging."
  `);
});

test('a restart is a note, and a deploy says what it changed', () => {
  const participants = [{ id: 'i1', kind: 'instance', label: 'server' }] as const;
  const events = [
    { kind: 'restart', at: 1, instance: 'i1' },
    { kind: 'restart', at: 2, instance: 'i1', deployed: 'reworded' },
  ] as const;
  const end = { result: { content: [] } };
  expect(
    toMermaid({ format: 'mrtr-transcript', version: 1, title: 'deploy', participants, events, end }),
  ).toMatchInlineSnapshot(`
    "sequenceDiagram
      title deploy
      participant P0 as server
      Note over P0: restarted
      Note over P0: a new version is deployed: reworded"
  `);
});

const SAFE = /(?:[\p{L}\p{M}\p{N} .,:!?'"(){}[\]/_=+→×·…⊘\p{So}\ufffd-]|#\d+;)+/u.source;
const LINE = new RegExp(
  `^ {2}(?:title|actor P\\d as|participant P\\d as|Note over P\\d:|P\\d(?:->>|-->>|-x)P\\d:) ${SAFE}$`,
  'u',
);

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        'end',
        '%%{init: {}}%%',
        '-->>',
        ':',
        ';',
        '#35;',
        '\n',
        'wrap:',
        '<b>',
        '$$x$$',
        '@{',
        '\ud800',
      ),
    )
    .map((parts) => parts.join('')),
);

// The grammar of LINE was checked once against the parser of Mermaid 11, with 3000 such diagrams.
test('nothing that is said can be taken for syntax', () => {
  fc.assert(
    fc.property(hostile, hostile, (text, more) => {
      const params = { name: text, arguments: { [more]: text } };
      const asked = { [text]: { method: 'elicitation/create', params: { message: more } } };
      const instance = 'i1';
      const events: TranscriptEvent[] = [
        { kind: 'message', from: 'client', to: instance, message: { id: 1, method: 'tools/call', params } },
        { kind: 'message', from: 'client', message: { id: 2, method: text, params } },
        { kind: 'message', from: instance, to: 'client', message: { id: 1, error: { message: text } } },
        {
          kind: 'message',
          from: instance,
          to: 'client',
          message: { id: 1, result: { resultType: 'input_required', inputRequests: asked } },
        },
        { kind: 'question', to: 'person', id: 1, message: text, schema: {}, framesHeld: 0 },
        { kind: 'answer', from: 'person', id: 1, reply: { action: 'accept', content: { [more]: text } } },
        { kind: 'entry', instance, part: 'step', name: text },
        { kind: 'guard', instance, key: more, phase: 'held' },
        { kind: 'effect', instance, name: text, detail: more },
        { kind: 'state', instance, phase: 'rejected', bytes: 0, reason: more },
        { kind: 'kill', instance },
      ].map((event) => ({ ...event, at: 0 }) as TranscriptEvent);
      const transcript: Transcript = {
        format: 'mrtr-transcript',
        version: 1,
        title: text,
        participants: [
          { id: 'person', kind: 'person', label: text },
          { id: 'client', kind: 'client', label: more, era: 'modern', name: text },
          { id: instance, kind: 'instance', label: more },
          { id: 'world', kind: 'world', label: text },
        ],
        events,
        end: { error: { message: text } },
      };
      const [head, ...lines] = toMermaid(transcript).split('\n');
      expect(head).toBe('sequenceDiagram');
      expect(lines).toHaveLength(1 + 4 + events.length);
      for (const line of lines) expect(line).toMatch(LINE);
    }),
  );
});
