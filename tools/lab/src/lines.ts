/** Lines that ran. The page imports this too, so do not import Node modules. */
import type { Lines, LinesRun, SourceLine } from '@mrtr/harness/transcript';

/** Keeps the counts of the lines in `order`. */
export function keepLines(files: LinesRun, order: readonly SourceLine[]): LinesRun {
  const kept: Record<string, Lines> = {};
  for (const [file, line] of order) {
    const count = files[file]?.[line];
    if (count !== undefined) kept[file] = { ...kept[file], [line]: count };
  }
  return kept;
}
