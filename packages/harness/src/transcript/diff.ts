/** A difference between two transcripts, for people. */
import { createTwoFilesPatch, diffArrays } from 'diff';

/** A unified diff with the titles of both sides. Undefined if they are equal. */
export function diffViews(
  expected: { readonly title: string; readonly lines: readonly string[] },
  actual: { readonly title: string; readonly lines: readonly string[] },
): string | undefined {
  const [before, after] = [expected, actual].map(({ lines }) => `${lines.map(indent).join('\n')}\n`);
  if (before === after) return undefined;
  return createTwoFilesPatch(expected.title, actual.title, before ?? '', after ?? '', '', '', { context: 2 });
}

/** Merges two lists by their longest common subsequence, and returns the side of each item. */
export const compareLists = (
  left: readonly string[],
  right: readonly string[],
): readonly ('both' | 'left' | 'right')[] =>
  diffArrays([...left], [...right]).flatMap(({ count, added, removed }) =>
    Array.from({ length: count }, () => (added ? 'right' : removed ? 'left' : 'both')),
  );

/** A message's JSON over several lines, since a diff of one long line shows nothing. */
function indent(line: string) {
  const at = line.indexOf(' ');
  try {
    return `${line.slice(0, at)} ${JSON.stringify(JSON.parse(line.slice(at + 1)), null, 2)}`;
  } catch {
    return line;
  }
}
