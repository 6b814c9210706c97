/** `docs/mutation.md`: the table of scores, and the survivors with their reasons. */
import { markdownTable } from 'markdown-table';
import { type Explained, type FileResult, shownScore } from './judge.ts';

const HEAD = ['File', 'Mutants', 'Killed', 'Survived', 'Timeout', 'Score'];

/** The table in Markdown, which also reads well in a terminal. */
export const tableOf = (results: readonly FileResult[]): string =>
  markdownTable(
    [
      HEAD,
      ...results.map(({ file, mutants, killed, survivors, timeout, score }) => [
        file,
        ...[mutants, killed, survivors.length, timeout].map(String),
        shownScore(score),
      ]),
    ],
    { align: ['l', 'r', 'r', 'r', 'r', 'r'] },
  );

const ITEM = /^`(.+?)`[\s\S]*?\w/;

/**
 * The survivors that the document explains. A file is a heading with its path, and below it each survivor is an item
 * that begins with its key in backticks and goes on with the reason. An item of another form explains nothing, and is
 * reported as a survivor that does not survive.
 */
export function readExplained(markdown: string): Explained {
  const explained = new Map<string, string[]>();
  for (const section of markdown.split(/^#+ /m)) {
    const file = /^`(\S+\.ts)`$/m.exec(section.split('\n', 1)[0] ?? '')?.[1];
    const items = section.split(/^\* /m).slice(1);
    if (file !== undefined)
      explained.set(
        file,
        items.map((item) => ITEM.exec(item)?.[1] ?? item.trim()),
      );
  }
  return explained;
}
