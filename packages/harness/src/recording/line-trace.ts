/**
 * Records the lines of the author's files that ran in this process, and their order. At each possible place it sets a
 * breakpoint whose condition records the place and returns false, so the program never stops. Coverage cannot do this: V8
 * counts a whole block on entry, before its later lines have run.
 */
import { readFileSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { SourceMap, type SourceMapPayload, type SourceMapping } from 'node:module';
import type { Lines, LinesRun, SourceLine } from '../transcript/transcript.ts';

/** A place of a breakpoint in an author's file. Lines and columns begin at 1. */
interface Stop {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The lines that ran: their counts and their order. */
export interface Traced {
  readonly files: LinesRun;
  readonly order: readonly SourceLine[];
}

/** Limits the order, so that an endless loop does not fill the memory. */
const MAX_PLACES = 2000;

// The breakpoints' conditions call the hooks.
const NOTE = Symbol.for('mrtr.line-trace');
const holder = globalThis as { [NOTE]?: Record<string, (stop: number) => false> };
holder[NOTE] ??= {};
const hooks = holder[NOTE];
let traces = 0;

/** Traces lines of the modules that are loaded between its creation and `close`. */
export class LineTrace {
  readonly #session = new Session();
  readonly #nameOf: (url: string) => string | undefined;
  readonly #stops: Stop[] = [];
  readonly #hook = `trace${++traces}`;
  #hits = new Map<number, number>();
  #order: SourceLine[] = [];

  /**
   * Starts to trace.
   *
   * @param nameOf returns a file's name in transcripts, by its module's URL. Undefined for a file that is not traced.
   * @example
   * const trace = new LineTrace((url) => /\/src\/tools\/.+/.exec(url)?.[0]);
   * const { createMyServer } = await import('./src/tools/my-server.ts');
   * await converse({ ...request, takeLines: () => trace.take() }, () => host('memory', createMyServer));
   * trace.close();
   */
  constructor(nameOf: (url: string) => string | undefined) {
    this.#nameOf = nameOf;
    hooks[this.#hook] = (stop) => this.#note(stop);
    this.#session.connect();
    this.#session.on('Debugger.scriptParsed', ({ params }) => this.#watch(params));
    this.#post('Debugger.enable');
  }

  /** Returns the lines that ran since the last call. Undefined if none did. */
  take(): Traced | undefined {
    const [hits, order] = [this.#hits, this.#order];
    [this.#hits, this.#order] = [new Map(), []];
    if (hits.size === 0) return undefined;
    const byLine = new Map<string, [column: number, count: number][]>();
    const ran = new Set([...hits.keys()].map((stop) => keyOf(this.#stops[stop])));
    for (const [at, stop] of this.#stops.entries()) {
      const key = keyOf(stop);
      if (!ran.has(key)) continue;
      const columns = byLine.get(key) ?? [];
      byLine.set(key, columns);
      columns.push([stop.column, hits.get(at) ?? 0]);
    }
    const files: Record<string, Lines> = {};
    for (const [key, columns] of byLine) {
      const [file = '', line = ''] = key.split('\n');
      files[file] = { ...files[file], [line]: countOf(columns) };
    }
    return { files, order };
  }

  /** Stops tracing. */
  close(): void {
    delete hooks[this.#hook];
    this.#session.disconnect();
  }

  #note(at: number): false {
    this.#hits.set(at, (this.#hits.get(at) ?? 0) + 1);
    const { file, line } = this.#stops[at] as Stop;
    const [lastFile, lastLine] = this.#order.at(-1) ?? [];
    const isSame = lastFile === file && lastLine === line;
    if (!isSame && this.#order.length < MAX_PLACES) this.#order.push([file, line]);
    return false;
  }

  #watch(script: Debugger.ScriptParsedEventDataType): void {
    const { scriptId, endLine } = script;
    const source = () =>
      this.#post<Debugger.GetScriptSourceReturnType>('Debugger.getScriptSource', { scriptId }).scriptSource;
    const stopAt = stopsOf(script, this.#nameOf, source);
    if (!stopAt) return;
    const { locations } = this.#post<Debugger.GetPossibleBreakpointsReturnType>(
      'Debugger.getPossibleBreakpoints',
      { start: { scriptId, lineNumber: 0 }, end: { scriptId, lineNumber: endLine + 1 } },
    );
    const statements = statementsOf(locations, source().split('\n'));
    const hook = `globalThis[Symbol.for('mrtr.line-trace')]?.${this.#hook}`;
    for (const [place, location] of locations.entries()) {
      const calls = (statements[place] ?? []).flatMap((statement) => {
        const stop = stopAt(statement);
        return stop ? [`hook?.(${this.#stops.push(stop) - 1})`] : [];
      });
      if (calls.length === 0) continue;
      const condition = `((hook)=>{${calls.join(';')};return false})(${hook})`;
      this.#post('Debugger.setBreakpoint', { location, condition });
    }
  }

  // In the process that it inspects, a session answers before `post` returns.
  #post<T>(method: string, params?: object): T {
    let answer: T | undefined;
    this.#session.post(method, params, (error, result) => {
      if (error) throw error;
      answer = result as T;
    });
    return answer as T;
  }
}

const keyOf = (stop: Stop | undefined) => `${stop?.file}\n${stop?.line}`;

/** The count of a line, or of each of its parts if they differ. */
function countOf(columns: readonly (readonly [column: number, count: number])[]) {
  const parts = [...columns].sort(([a], [b]) => a - b);
  const changes = parts.filter(([, count], at) => at === 0 || parts[at - 1]?.[1] !== count);
  return changes.length === 1 ? (changes[0]?.[1] ?? 0) : changes;
}

/**
 * The beginnings of the statements that run at each location; none at the end of a function, which is not a line of the
 * author's. In a minified script, as tsx makes it, a statement may begin where a `return` ends. V8 then stops only at that
 * end, so the next location stands for that statement too.
 */
function statementsOf(locations: readonly Debugger.BreakLocation[], lines: readonly string[]) {
  const ends = new Set<string>();
  let hidden: readonly Location[] = [];
  return locations.map((location) => {
    const { lineNumber, columnNumber = 0, type } = location;
    const line = lines[lineNumber] ?? '';
    const rest = line.slice(columnNumber);
    if (RETURN.test(rest)) ends.add(`${lineNumber}:${columnNumber + lengthOfStatement(rest)}`);
    const isEnd = type === 'return' || ends.has(`${lineNumber}:${columnNumber}`);
    const found = isEnd ? hidden : [...hidden, location];
    hidden = isEnd && STATEMENT.test(rest) ? [location] : [];
    return found;
  });
}

const RETURN = /^return\b/;
/** What can begin a statement, but no further branch of one. */
const STATEMENT = /^(?!(?:else|case|default|catch|finally)\b)[\w$([{]/;
/** A string, a template up to what it contains, a regular expression, a bracket or a semicolon. */
const TOKEN =
  /(["'`])(?:\\.|(?!\1)[^\\])*\1|(?<=[(,=:[!&|?{};]|return)\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\])+\/|[()[\]{};]/g;

/** The length of the statement that a line begins with. Of one that goes on in the next line: the line's. */
function lengthOfStatement(line: string): number {
  let depth = 0;
  for (const { 0: token, index } of line.matchAll(TOKEN)) {
    if (token === ';' && depth === 0) return index + 1;
    if ('([{'.includes(token)) depth++;
    if (')]}'.includes(token) && depth-- === 0) return index;
  }
  return line.length;
}

/** A line of closing brackets only, where no statement begins. */
const CLOSES = /^[\s})\];,]*$/;

type Location = Pick<Debugger.BreakLocation, 'lineNumber' | 'columnNumber'>;
type NameOf = (url: string) => string | undefined;

/** An author's file: its name in transcripts, and its text. */
interface AuthorsFile {
  readonly file: string;
  readonly lines: readonly string[];
}

/**
 * Maps a location of a script to its author's file, by the script's source map. Without a map, or if the map names no
 * author's file, the script is the author's file. Undefined for a script of nobody's.
 */
function stopsOf(
  { url, sourceMapURL = '' }: Pick<Debugger.ScriptParsedEventDataType, 'url' | 'sourceMapURL'>,
  nameOf: NameOf,
  source: () => string,
): ((at: Location) => Stop | undefined) | undefined {
  const own = nameOf(url);
  const isInline = sourceMapURL.startsWith('data:');
  if (own === undefined && (isInline || sourceMapURL === '' || !/^file:(?!.*\/node_modules\/)/.test(url)))
    return undefined;
  const map = sourceMapURL === '' ? undefined : readMap(new URL(sourceMapURL, url));
  const sources = map?.payload.sources ?? [];
  const files = sources.map((path, at) => {
    // An inline map is of a file that was compiled while it was loaded.
    const address = isInline
      ? url
      : new URL(`${map?.payload.sourceRoot ?? ''}${path}`, new URL(sourceMapURL, url)).href;
    return fileOf(
      nameOf(address),
      () => map?.payload.sourcesContent?.[at] ?? readFileSync(new URL(address), 'utf8'),
    );
  });
  if (map && files.some((file) => file !== undefined))
    return ({ lineNumber, columnNumber = 0 }) => {
      const found = map.findEntry(lineNumber, columnNumber) as Partial<SourceMapping>;
      const { originalSource = '', originalLine, originalColumn } = found;
      return stopIn(files[Math.max(0, sources.indexOf(originalSource))], originalLine, originalColumn);
    };
  const compiled = fileOf(own, source);
  return compiled && (({ lineNumber, columnNumber = 0 }) => stopIn(compiled, lineNumber, columnNumber));
}

function fileOf(file: string | undefined, text: () => string): AuthorsFile | undefined {
  return file === undefined ? undefined : { file, lines: text().split('\n') };
}

function stopIn(
  of: AuthorsFile | undefined,
  line: number | undefined,
  column: number | undefined,
): Stop | undefined {
  if (!of || line === undefined || column === undefined || CLOSES.test(of.lines[line] ?? ''))
    return undefined;
  return { file: of.file, line: line + 1, column: column + 1 };
}

/** Undefined for a map that cannot be read. */
function readMap(address: URL) {
  try {
    const text =
      address.protocol === 'data:'
        ? Buffer.from(address.href.slice(address.href.indexOf(',') + 1), 'base64').toString()
        : readFileSync(address, 'utf8');
    return new SourceMap(JSON.parse(text) as SourceMapPayload);
  } catch {
    return undefined;
  }
}
