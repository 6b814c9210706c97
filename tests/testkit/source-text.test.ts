import { expect, test } from 'vitest';
import { commentLinesOf, linesOf, modulesNamedIn } from './source-text.ts';

const source = `import { a } from 'one';
import type {
  B,
} from "two";
import 'three';
export * from './four.ts';
type C = import('five').C;
// import { no } from 'in a comment';
/**
 * import { no } from 'in a docstring';
 */
const text = "import no from 'in a string'"; const url = 'https://x'; // trailing
const d = await import(\`six-\${a}\`);
const e = import.meta.resolve('seven');
`;

test('every way of naming a module is found, with its line', () => {
  expect(modulesNamedIn(source)).toEqual([
    { specifier: 'one', line: 1 },
    { specifier: 'two', line: 4 },
    { specifier: 'three', line: 5 },
    { specifier: './four.ts', line: 6 },
    { specifier: 'five', line: 7 },
    { specifier: ['six-$', '{a}'].join(''), line: 13 },
    { specifier: 'seven', line: 14 },
  ]);
});

test('comment lines are counted once each, whatever the comment looks like', () => {
  expect(commentLinesOf(source)).toBe(5);
  expect(commentLinesOf("const url = 'https://x';\n")).toBe(0);
});

test('a newline at the end does not begin another line', () => {
  expect([linesOf('a'), linesOf('a\n'), linesOf('a\nb')]).toEqual([1, 1, 2]);
});
