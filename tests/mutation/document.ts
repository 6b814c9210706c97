/** `docs/mutation.md`: the table of scores, which `pnpm mutate --write` writes, and the survivors with their reasons. */
import { markdownTable } from 'markdown-table';
import { type Explained, type FileResult, shownScore } from './judge.ts';

const BLOCK = /^(<!-- begin: mutate: scores -->\n)[\s\S]*?^(<!-- end: mutate: scores -->)$/m;
const HEAD = ['File', 'Mutants', 'Killed', 'Survived', 'Timeout', 'Score'];

export const rowsOf = (results: readonly FileResult[]): string[][] =>
  results.map(({ file, mutants, killed, survivors, timeout, score }) => [
    file,
    ...[mutants, killed, survivors.length, timeout].map(String),
    shownScore(score),
  ]);

/** The table in Markdown, which also reads well in a terminal. */
export const tableOf = (rows: readonly (readonly string[])[]): string =>
  markdownTable([HEAD, ...rows], { align: ['l', 'r', 'r', 'r', 'r', 'r'] });

const ITEM = /^(`+) ?(.+?) ?\1(?!`)[\s\S]*?\w/;

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
        items.map((item) => ITEM.exec(item)?.[2] ?? item.trim()),
      );
  }
  return explained;
}

/** A key as the document has it: in more backticks than it has in a row itself. */
export function quoteKey(key: string): string {
  const longest = Math.max(0, ...(key.match(/`+/g) ?? []).map(({ length }) => length));
  const quotes = '`'.repeat(longest + 1);
  return longest === 0 ? `${quotes}${key}${quotes}` : `${quotes} ${key} ${quotes}`;
}

/** The document with the rows of `results` in its table, and those of other `targets` as they were. */
export function withScores(
  markdown: string,
  results: readonly FileResult[],
  targets: readonly string[],
): string {
  const known = new Map<string, readonly string[]>();
  for (const line of BLOCK.exec(markdown)?.[0].split('\n') ?? []) {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (cells[0]?.endsWith('.ts')) known.set(cells[0], cells);
  }
  for (const row of rowsOf(results)) known.set(row[0] ?? '', row);
  const rows = targets.flatMap((file) => (known.has(file) ? [known.get(file) ?? []] : []));
  return markdown.replace(BLOCK, (_block, begin, end) => `${begin}\n${tableOf(rows)}\n\n${end}`);
}
