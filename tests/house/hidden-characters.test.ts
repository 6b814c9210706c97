/** Characters that are not shown: one list in core, and one in the harness, which may not import core. */
import { escapeHidden } from '@mrtr/core/internal';
import { escapeHidden as escapeInHarness, jsonText } from '@mrtr/harness/internal';
import { expect, test } from 'vitest';
import { projectFiles, textOf } from '../testkit/project-files.ts';

/** Every code point between two letters: a mark at the start of a text has a rule of its own in core. */
const EVERY = Array.from({ length: 0x110000 }, (_, point) => `a${String.fromCodePoint(point)}b`);

test('core and the harness escape the same characters, of all code points, in the same way', () => {
  const [core, harness] = [escapeHidden, escapeInHarness].map((escapeAll) =>
    escapeAll(EVERY.join('\x7f')).split('\\u{7f}'),
  );
  expect(core?.filter((text) => text.startsWith('a\\') && text.length > 3).length).toBeGreaterThan(900_000);
  expect(EVERY.filter((_, point) => core?.[point] !== harness?.[point])).toEqual([]);
});

test('as JSON, every code point is printable and keeps its value', () => {
  const text = jsonText(EVERY.join(''));
  expect(JSON.parse(text) === EVERY.join('')).toBe(true);
  expect(escapeHidden(text) === text).toBe(true);
});

test('there is no third list', () => {
  const lists = projectFiles().filter(
    (file) =>
      /^(?:packages|demos|tools)\/.*(?<!\.test|\.test-support|\.proof|\.browser)\.ts$/.test(file) &&
      /\\p\{(?:C\}|C[cf]\}|Bidi)/.test(textOf(file)),
  );
  expect(lists).toEqual([
    'packages/core/src/diagnostics/hidden-characters.ts',
    'packages/harness/src/transcript/hidden-characters.ts',
  ]);
});
