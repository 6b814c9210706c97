/**
 * Which lines of the author's files ran in this process, and in which order. At each place where the debugger could
 * stop stands a breakpoint whose condition notes the place and is false: nothing ever stops. Coverage cannot do this: V8
 * counts a whole block when it is entered, before its later lines have run.
 */
import { readFileSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { SourceMap, type SourceMapPayload } from 'node:module';
import type { Lines, LinesRun, Place } from '../transcript/transcript.ts';

/** A place in an author's file where one may stop. Lines and columns begin at 1. */
interface Stop {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What a take gives: how often the lines ran, and their order. */
export interface Traced {
  readonly files: LinesRun;
  readonly order: readonly Place[];
}

/** A loop that does not end must not fill the memory. */
const MAX_PLACES = 2000;

const NOTE = Symbol.for('mrtr.line-trace');
let traces = 0;

/** Traces lines, from its making until it is closed, in modules that are loaded meanwhile. */
export class LineTrace {
  readonly #session = new Session();
  readonly #nameOf: (url: string) => string | undefined;
  readonly #stops: Stop[] = [];
  readonly #hook = `trace${++traces}`;
  #hits = new Map<number, number>();
  #order: Place[] = [];

  /**
   * Starts to trace.
   *
   * @param nameOf the name of a module's file in transcripts, by the module's URL; undefined for a file that is not
   * traced.
   * @example
   * const trace = new LineTrace((url) => /\/src\/tools\/.+/.exec(url)?.[0]);
   * const { createMyServer } = await import('./src/tools/my-server.ts');
   * await converse({ ...request, takeLines: () => trace.take() }, () => host('memory', createMyServer));
   * trace.close();
   */
  constructor(nameOf: (url: string) => string | undefined) {
    this.#nameOf = nameOf;
    const hooks = globalThis as { [NOTE]?: Record<string, (stop: number) => false> };
    hooks[NOTE] ??= {};
    hooks[NOTE][this.#hook] = (stop) => this.#note(stop);
    this.#session.connect();
    this.#session.on('Debugger.scriptParsed', ({ params }) => this.#watch(params));
    this.#post('Debugger.enable');
  }

  /** What ran since the last take; undefined where nothing did. */
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
    const files: Record<string, Record<string, Lines[string]>> = {};
    for (const [key, columns] of byLine) {
      const [file = '', line = ''] = key.split('\n');
      files[file] = { ...files[file], [line]: countOf(columns) };
    }
    return { files, order };
  }

  /** Stops tracing. */
  close(): void {
    delete (globalThis as { [NOTE]?: Record<string, unknown> })[NOTE]?.[this.#hook];
    this.#session.disconnect();
  }

  #note(at: number): false {
    this.#hits.set(at, (this.#hits.get(at) ?? 0) + 1);
    const { file, line } = this.#stops[at] as Stop;
    const last = this.#order.at(-1);
    const isSame = last?.[0] === file && last[1] === line;
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
      // The end of a function is no line of anybody's that runs.
      const place = location.type === 'return' ? undefined : placeIn(location);
      if (!place) continue;
      const at = this.#stops.push({ file, ...place }) - 1;
      const condition = `globalThis[Symbol.for('mrtr.line-trace')]?.${this.#hook}?.(${at}) ?? false`;
      this.#post('Debugger.setBreakpoint', { location, condition });
    }
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

const keyOf = (stop: Stop | undefined): string => `${stop?.file}\n${stop?.line}`;

/** The count of a line, or of each part of it where they differ. */
function countOf(columns: readonly (readonly [column: number, count: number])[]): Lines[string] {
  const parts = [...columns].sort(([a], [b]) => a - b);
  const changes = parts.filter(([, count], at) => at === 0 || parts[at - 1]?.[1] !== count);
  return changes.length === 1 ? (changes[0]?.[1] ?? 0) : changes;
}

const INLINE_MAP = /^\/\/# sourceMappingURL=data:application\/json[^,]*;base64,(?<map>.+)$/m;

/** A line with nothing but brackets that close: no statement of the author's begins there. */
const CLOSES = /^[\s})\];,]*$/;

type Location = Pick<Debugger.BreakLocation, 'lineNumber' | 'columnNumber'>;

/** Finds the author's place of a location, by the script's inline source map. Without one the script is the author's. */
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
