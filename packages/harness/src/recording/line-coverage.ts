/**
 * Which lines of the author's files ran, measured by V8's precise coverage in this process. Taking resets the counters,
 * so each take is what ran since the one before. V8 counts the continuation of an `await` on its own: a handler that is
 * parked has run above its question in one take, and below it in the next.
 */
import { readFileSync } from 'node:fs';
import { type Debugger, type Profiler, Session } from 'node:inspector';
import { SourceMap, type SourceMapPayload } from 'node:module';
import type { Lines, LinesRun } from '../transcript/transcript.ts';

/** Where a piece of generated code begins, and the place in the author's file that it was made of. */
interface Piece {
  readonly offset: number;
  /** Both begin at 1. */
  readonly line: number;
  readonly column: number;
}

/** Counts lines, from its making until it is closed. Modules that were loaded before are not seen. */
export class LineCoverage {
  readonly #session = new Session();
  readonly #nameOf: (url: string) => string | undefined;
  readonly #pieces = new Map<string, readonly Piece[]>();

  /**
   * Starts to count.
   *
   * @param nameOf the name of a module's file in transcripts, by the module's URL; undefined for a file that does not
   * count.
   * @example
   * const coverage = new LineCoverage((url) => /\/src\/tools\/.+/.exec(url)?.[0]);
   * const { createMyServer } = await import('./src/tools/my-server.ts');
   * await converse({ ...request, takeLines: () => coverage.take() }, () => host('memory', createMyServer));
   * coverage.close();
   */
  constructor(nameOf: (url: string) => string | undefined) {
    this.#nameOf = nameOf;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Debugger.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** What ran since the last take; undefined where nothing did. */
  take(): LinesRun | undefined {
    const { result } = this.#post<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage');
    const files: Record<string, Lines> = {};
    for (const script of result) {
      const name = this.#nameOf(script.url);
      if (name === undefined) continue;
      const lines = countLines(this.#piecesOf(script), script.functions);
      if (Object.keys(lines).length > 0) files[name] = lines;
    }
    return Object.keys(files).length > 0 ? files : undefined;
  }

  /** Stops counting. */
  close(): void {
    this.#session.disconnect();
  }

  #piecesOf({ scriptId, url }: Profiler.ScriptCoverage): readonly Piece[] {
    const known = this.#pieces.get(scriptId);
    if (known) return known;
    const { scriptSource } = this.#post<Debugger.GetScriptSourceReturnType>('Debugger.getScriptSource', {
      scriptId,
    });
    const pieces = piecesIn(scriptSource, url);
    this.#pieces.set(scriptId, pieces);
    return pieces;
  }

  // A session in the process that it inspects answers before `post` returns.
  #post<T>(method: string, params?: object): T {
    let answer: T | undefined;
    this.#session.post(method, params, (error, result) => {
      if (error) throw error;
      answer = result as T;
    });
    return answer as T;
  }
}

const INLINE_MAP = /^\/\/# sourceMappingURL=data:application\/json[^,]*;base64,(?<map>.+)$/m;

/**
 * A line of the author's that nothing runs in: a comment, a part of one, or brackets that close. V8 gives those the count
 * of the block around them, also where they were not reached.
 */
const NOTHING = /^\s*(?:\/\/|\/?\*|[})\];,\s]*$)/;

/** The pieces of a script, by its inline source map. Without one its own lines are the author's. */
function piecesIn(source: string, url: string): readonly Piece[] {
  const inline = INLINE_MAP.exec(source)?.groups?.map;
  const payload =
    inline && (JSON.parse(Buffer.from(inline, 'base64').toString()) as Partial<SourceMapPayload>);
  const map = payload && new SourceMap(payload as SourceMapPayload);
  const idle = (payload ? (payload.sourcesContent?.[0] ?? readFileSync(new URL(url), 'utf8')) : source)
    .split('\n')
    .map((line) => NOTHING.test(line));
  const pieces: Piece[] = [];
  let [row, from] = [0, 0];
  for (let offset = 0; offset < source.length; offset++) {
    if (source[offset] === '\n') {
      [row, from] = [row + 1, offset + 1];
      continue;
    }
    if (/\s/.test(source[offset] ?? '')) continue;
    const piece = map ? placeIn(map, row, offset - from) : { line: row + 1, column: offset - from + 1 };
    const last = pieces.at(-1);
    const isSame = last?.line === piece?.line && last?.column === piece?.column;
    if (piece && !isSame && !idle[piece.line - 1]) pieces.push({ offset, ...piece });
  }
  return pieces;
}

function placeIn(map: SourceMap, row: number, column: number): Omit<Piece, 'offset'> | undefined {
  const { originalLine, originalColumn } = map.findEntry(row, column) as Partial<
    Record<'originalLine' | 'originalColumn', number>
  >;
  if (originalLine === undefined || originalColumn === undefined) return undefined;
  return { line: originalLine + 1, column: originalColumn + 1 };
}

function countLines(pieces: readonly Piece[], functions: readonly Profiler.FunctionCoverage[]): Lines {
  // V8 lists an outer range before the ones inside it, so the last range that holds an offset is the innermost.
  const ranges = functions.flatMap((one) => one.ranges);
  const countAt = (offset: number) =>
    ranges.findLast(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)?.count ?? 0;
  const byLine = new Map<number, Map<number, number>>();
  for (const { offset, line, column } of pieces) {
    const columns = byLine.get(line) ?? new Map<number, number>();
    byLine.set(line, columns);
    if (!columns.has(column)) columns.set(column, countAt(offset));
  }
  const lines: Record<string, Lines[string]> = {};
  for (const [line, columns] of [...byLine].sort(([a], [b]) => a - b)) {
    const parts = [...columns].sort(([a], [b]) => a - b);
    if (parts.every(([, count]) => count === 0)) continue;
    const changes = parts.filter(([, count], at) => at === 0 || parts[at - 1]?.[1] !== count);
    lines[line] = changes.length === 1 ? (changes[0]?.[1] ?? 0) : changes;
  }
  return lines;
}
