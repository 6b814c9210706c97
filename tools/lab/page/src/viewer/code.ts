/** The author's file at a step: its current line, the lines that have run, and the rows of a line. */
import {
  asks,
  CLIENT,
  type Lines,
  type LinesRun,
  type Row,
  type SourceLine,
  type TranscriptEvent,
  type WireMessage,
} from '@mrtr/harness/transcript';

type Events = readonly TranscriptEvent[];

/** The state of a handler: it runs, asks, waits in memory for the answer, or has returned. */
type How = 'runs' | 'asks' | 'waits' | 'left';

/** The program counter. */
export interface Stand {
  readonly file: string;
  readonly line: number;
  readonly how: How;
}

/**
 * The author's current line after `events`: in the instance that ran last, or else in one that waits. A request alone
 * does not move it: a handler that has returned stays at its last line until it is entered again. Undefined if the
 * entry has not reached a line yet. `rows` belong to `events`.
 */
export function standsAt(events: Events, rows: readonly Row[]): Stand | undefined {
  const places = new Map<string, SourceLine>();
  const hows = new Map<string, How>();
  // The instances that asked over an old client's open stream.
  const live = new Set<string>();
  let here: string | undefined;
  for (const [at, event] of events.entries()) {
    const reached = receiverOf(event);
    if (reached !== undefined && hows.get(reached) === 'waits') {
      here = reached;
      hows.set(reached, 'runs');
    } else if (event.kind === 'entry') {
      here = event.instance;
      places.delete(here);
      hows.set(here, 'runs');
    } else if (event.kind === 'lines') {
      // An instance may report its last lines after its answer.
      const last = event.order?.at(-1);
      // Ignore the lines of a discarded process.
      if (!last || !hows.has(event.instance)) continue;
      here = event.instance;
      places.set(here, last);
      if (hows.get(here) === 'asks' && live.has(here)) hows.set(here, 'runs');
    } else if (event.kind === 'message' && hows.has(event.from) && !isNotice(event.message)) {
      hows.set(event.from, asks(event.message) ? 'asks' : 'left');
      if (event.message.method === undefined) live.delete(event.from);
      else live.add(event.from);
    } else if (event.kind === 'question') {
      const held = rows.find((row) => row.at === at)?.held ?? [];
      for (const [instance, how] of hows)
        if (how === 'asks' && event.framesHeld > 0 && held.includes(instance)) hows.set(instance, 'waits');
        // A handler behind an old client's open request may still wait.
        else if (how === 'asks' && !live.has(instance)) hows.set(instance, 'left');
    } else if (event.kind === 'kill' || event.kind === 'restart') {
      places.delete(event.instance);
      hows.delete(event.instance);
    }
  }
  const waiting = [...places.keys()].find((one) => hows.get(one) === 'waits');
  const lane = here !== undefined && places.has(here) ? here : waiting;
  const place = lane === undefined ? undefined : places.get(lane);
  return lane === undefined || !place
    ? undefined
    : { file: place[0], line: place[1], how: hows.get(lane) ?? 'runs' };
}

/** The line that caused a row: the last one that ran in its instance before it. */
export function placeOf({ at, event }: Pick<Row, 'at' | 'event'>, events: Events): SourceLine | undefined {
  const instance = 'instance' in event ? event.instance : event.kind === 'message' ? event.from : undefined;
  if (instance === undefined || instance === CLIENT) return undefined;
  for (let before = at - 1; before >= 0; before--) {
    const one = events[before];
    if (one?.kind === 'entry' && one.instance === instance) return undefined;
    if (one?.kind === 'lines' && one.instance === instance) return one.order?.at(-1);
  }
  return undefined;
}

/** The place of the entry that caused a row. */
export const entryOf = ({ at, event }: Pick<Row, 'at' | 'event'>, events: Events): number =>
  events
    .slice(0, at)
    .findLastIndex((one) => one.kind === 'entry' && 'instance' in event && one.instance === event.instance);

/** The rows that came right after a run of the line. */
export function rowsThatRan(
  rows: readonly (Row | undefined)[],
  events: Events,
  [file, line]: SourceLine,
): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [at, event] of events.entries()) {
    if (event.kind !== 'lines' || event.files[file]?.[line] === undefined) continue;
    const row = rows.find((one) => one && one.at > at) ?? rows.findLast((one) => one);
    if (row) found.add(row.at);
  }
  return found;
}

/**
 * The lines that ran up to an event: since the latest request or entry, with its instance; and all of them, by entry.
 */
export interface Ran {
  readonly now: readonly LinesRun[];
  readonly all: readonly { readonly entry: number; readonly files: LinesRun }[];
}

/** `at` is the place of the latest known event. A line is lit only after it has run. */
export function ranAt(events: Events, at: number): Ran {
  let [now, here]: [LinesRun[], string | undefined] = [[], undefined];
  const all: Ran['all'][number][] = [];
  const entries = new Map<string, number>();
  for (const [place, event] of events.slice(0, at + 1).entries()) {
    const reached = event.kind === 'entry' ? event.instance : receiverOf(event);
    if (reached !== undefined) [now, here] = [[], reached];
    // Lines that run before the next entry, such as tool registration, belong to no entry.
    if (reached !== undefined) entries.delete(reached);
    if (event.kind === 'entry') entries.set(event.instance, place);
    if (event.kind !== 'lines') continue;
    all.push({ entry: entries.get(event.instance) ?? -1, files: event.files });
    if (event.instance === here) now.push(event.files);
  }
  return { now, all };
}

/** The instance that a message of the client reached. */
const receiverOf = (event: TranscriptEvent): string | undefined =>
  event.kind === 'message' && event.from === CLIENT && !event.lost && !isNotice(event.message)
    ? event.to
    : undefined;

const isNotice = ({ method }: WireMessage): boolean =>
  typeof method === 'string' && method.startsWith('notifications/');

/** The marks of a line at a step: whether it has run, whether and where it runs now, and in how many entries it ran. */
export function marksOf(file: string, { now, all }: Ran, line: number) {
  const ran = all.filter(({ files }) => files[file]?.[line] !== undefined);
  const run = now.map((files) => files[file]?.[line]).reduce(mergeRuns, undefined);
  const entries = new Set(ran.map(({ entry }) => entry).filter((entry) => entry >= 0));
  return { isNow: run !== undefined, isLit: ran.length > 0, run, count: entries.size };
}

type Run = Lines[string] | undefined;

/** Merges the runs of a line in two stretches of one entry. */
function mergeRuns(one: Run, other: Run): Run {
  if (typeof one !== 'object' || typeof other !== 'object')
    return typeof one === 'object' ? (other ?? one) : (one ?? other);
  const countAt = (run: typeof one, at: number) => run.findLast(([column]) => column <= at)?.[1] ?? 0;
  const columns = [...new Set([...one, ...other].map(([column]) => column))].sort((a, b) => a - b);
  return columns.map((at) => [at, Math.max(countAt(one, at), countAt(other, at))] as const);
}
