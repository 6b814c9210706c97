/** A module named by an import, an export-from, a dynamic import or `import.meta.resolve`. */
export interface NamedModule {
  readonly specifier: string;
  /** Counted from 1. */
  readonly line: number;
}

// Comments, module names and all other literals, in one pass: what one of them holds is never read as another.
const TOKEN = new RegExp(
  [
    /(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)/,
    /(?:\bfrom|\bimport(?:\.meta\.resolve)?\s*\(?)\s*(?<named>['"`])(?<specifier>[^'"`\n]+)\k<named>/,
    /(?<quote>['"])(?:\\.|(?!\k<quote>)[^\\\n])*\k<quote>/,
    /`(?:\\[\s\S]|[^`\\])*`/,
  ]
    .map((part) => part.source)
    .join('|'),
  'g',
);

/** The modules a TypeScript source names, in order. Names in comments and strings do not count. */
export function modulesNamedIn(source: string): NamedModule[] {
  return [...source.matchAll(TOKEN)].flatMap(({ 0: token, index, groups }) => {
    const specifier = groups?.specifier;
    return specifier === undefined
      ? []
      : [{ specifier, line: linesOf(source.slice(0, index + token.length)) }];
  });
}

/** The number of lines that hold a comment, or a part of one. */
export function commentLinesOf(source: string): number {
  const lines = new Set<number>();
  for (const { index, groups } of source.matchAll(TOKEN)) {
    const comment = groups?.comment;
    if (comment === undefined) continue;
    const first = linesOf(source.slice(0, index + 1));
    for (let line = 0; line < linesOf(comment); line++) lines.add(first + line);
  }
  return lines.size;
}

/** The number of lines; a newline at the end does not begin another. */
export function linesOf(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
