/** A difference between two transcripts, for people. */
import { createTwoFilesPatch, diffArrays } from 'diff';

/** Undefined when the two are equal; otherwise a unified diff, with what each side is called on top. */
export function diffViews(
  expected: { readonly title: string; readonly lines: readonly string[] },
  actual: { readonly title: string; readonly lines: readonly string[] },
): string | undefined {
  const [before, after] = [expected, actual].map(({ lines }) => `${lines.map(indent).join('\n')}\n`);
  if (before === after) return undefined;
  return createTwoFilesPatch(expected.title, actual.title, before ?? '', after ?? '', '', '', { context: 2 });
}

/** Where the items of two lists are, in one order: in both, or in one alone; by their longest common subsequence. */
export const compareLists = (
  left: readonly string[],
  right: readonly string[],
): readonly ('both' | 'left' | 'right')[] =>
  diffArrays([...left], [...right]).flatMap(({ count, added, removed }) =>
    Array.from({ length: count }, () => (added ? 'right' : removed ? 'left' : 'both')),
  );

/** A message's JSON over several lines: a diff of one long line shows nothing. */
function indent(line: string): string {
  const at = line.indexOf(' ');
  try {
    return `${line.slice(0, at)} ${JSON.stringify(JSON.parse(line.slice(at + 1)), null, 2)}`;
  } catch {
    return line;
  }
}
