/**
 * Records the lines of the author's files that ran in this process, and their order. At each possible place it sets a
 * breakpoint whose condition records the place and returns false, so the program never stops. Coverage cannot do this: V8
 * counts a whole block on entry, before its later lines have run.
 */
import { readFileSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { SourceMap, type SourceMapPayload } from 'node:module';
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

  #watch({ scriptId, url, endLine }: Debugger.ScriptParsedEventDataType): void {
    const file = this.#nameOf(url);
    if (file === undefined) return;
    const source = this.#post<Debugger.GetScriptSourceReturnType>('Debugger.getScriptSource', { scriptId });
    const { locations } = this.#post<Debugger.GetPossibleBreakpointsReturnType>(
      'Debugger.getPossibleBreakpoints',
      { start: { scriptId, lineNumber: 0 }, end: { scriptId, lineNumber: endLine + 1 } },
    );
    const placeIn = authorsPlaces(source.scriptSource, url);
    for (const location of locations) {
      // The end of a function is not a line of the author's.
      const place = location.type === 'return' ? undefined : placeIn(location);
      if (!place) continue;
      const at = this.#stops.push({ file, ...place }) - 1;
      const condition = `globalThis[Symbol.for('mrtr.line-trace')]?.${this.#hook}?.(${at}) ?? false`;
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

const keyOf = (stop: Stop | undefined): string => `${stop?.file}\n${stop?.line}`;

/** The count of a line, or of each of its parts if they differ. */
function countOf(columns: readonly (readonly [column: number, count: number])[]): Lines[string] {
  const parts = [...columns].sort(([a], [b]) => a - b);
  const changes = parts.filter(([, count], at) => at === 0 || parts[at - 1]?.[1] !== count);
  return changes.length === 1 ? (changes[0]?.[1] ?? 0) : changes;
}

const INLINE_MAP = /^\/\/# sourceMappingURL=data:application\/json[^,]*;base64,(?<map>.+)$/m;

/** A line of closing brackets only, where no statement begins. */
const CLOSES = /^[\s})\];,]*$/;

type Location = Pick<Debugger.BreakLocation, 'lineNumber' | 'columnNumber'>;

/** Maps a location to the author's file by the script's inline source map. Without one, the script is the author's file. */
function authorsPlaces(source: string, url: string): (at: Location) => Omit<Stop, 'file'> | undefined {
  const inline = INLINE_MAP.exec(source)?.groups?.map;
  const payload =
    inline && (JSON.parse(Buffer.from(inline, 'base64').toString()) as Partial<SourceMapPayload>);
  const map = payload && new SourceMap(payload as SourceMapPayload);
  const text = payload ? (payload.sourcesContent?.[0] ?? readFileSync(new URL(url), 'utf8')) : source;
  const lines = text.split('\n');
  return ({ lineNumber, columnNumber = 0 }) => {
    const found: Partial<Record<'originalLine' | 'originalColumn', number>> = map
      ? map.findEntry(lineNumber, columnNumber)
      : { originalLine: lineNumber, originalColumn: columnNumber };
    const { originalLine: line, originalColumn: column } = found;
    if (line === undefined || column === undefined || CLOSES.test(lines[line] ?? '')) return undefined;
    return { line: line + 1, column: column + 1 };
  };
}
