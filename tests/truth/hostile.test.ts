/** No text of a server or a user escapes from its drawing, as a terminal command or as Mermaid syntax. */
import { toMermaid } from '@mrtr/harness/transcript';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { draw } from '../../packages/check/src/report/drawing.ts';
import { diagram } from '../../tools/cli/src/terminal.test-support.ts';
import { columns } from '../../tools/cli/src/terminal.ts';
import { conversationsWith } from './conversations.ts';

const WORDS = ['end', '%%{init: {}}%%', '-->>', ':', ';', '#35;', '\n', 'wrap:', '<b>', '$$x$$', '@{'];
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc
    .array(fc.constantFrom(...WORDS, ' \u0301', '長', '\ud800'), { maxLength: 60 })
    .map((parts) => parts.join('')),
  fc.constantFrom(
    `\u001b[2J\u001b]0;title\u0007\u009b31m${'長い場所の名前'.repeat(12)}\r\nnext \u202edesrever`,
    '👩‍👩‍👧‍👦 é\u0301\u200b ｆｕｌｌ ｗｉｄｔｈ \ud800 '.repeat(9),
    'x'.repeat(500),
    'two\nlines\tand a tab',
  ),
);

const CONTROL = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
const LABEL = / (?:entry \d+|end step|body)$/;

const SAFE = /(?:[\p{L}\p{M}\p{N} .,:!?'"(){}[\]/_=+→×·…⊘\p{So}\ufffd-]|#\d+;)+/u.source;
// This grammar was checked once against the parser of Mermaid 11, with 3000 such diagrams.
const MERMAID = new RegExp(
  `^ {2}(?:title|actor P\\d as|participant P\\d as|Note over P\\d:|P\\d(?:->>|-->>|-x)P\\d:) ${SAFE}$`,
  'u',
);

test('hostile text stays text in the terminal, in Mermaid and in the report', () => {
  fc.assert(
    fc.property(conversationsWith(hostile), (transcript) => {
      for (const line of diagram(transcript).slice(1)) {
        expect(line).not.toMatch(CONTROL);
        expect(line).toMatch(/^ {4}[│├].*[│┃┨┤]$|▶┃ /u);
        expect(columns(line.replace(LABEL, ''))).toBe(70);
      }
      for (const line of draw(transcript)) expect(line).not.toMatch(CONTROL);
      const [head, ...lines] = toMermaid(transcript).split('\n');
      expect(head).toBe('sequenceDiagram');
      for (const line of lines) expect(line).toMatch(MERMAID);
    }),
  );
});
