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
 * entry has not reached a line yet. `rows` belong to `events`. Without `isSeen`, nobody knows whether a handler that asked
 * waits or has returned.
 */
export function standsAt(events: Events, rows: readonly Row[], isSeen = true): Stand | undefined {
  const handlers = new Map<string, Handler>();
  let here: string | undefined;
  for (const [at, event] of events.entries()) {
    const reached = receiverOf(event);
    const parked = reached === undefined ? undefined : handlers.get(reached);
    if (parked?.how === 'waits') {
      here = reached;
      parked.how = 'runs';
    } else if (event.kind === 'entry') {
      here = event.instance;
      handlers.set(here, { how: 'runs', isLive: handlers.get(here)?.isLive });
    } else if (event.kind === 'lines') {
      const handler = handlers.get(event.instance);
      // An instance may report its last lines after its answer.
      const last = event.order?.at(-1);
      // Ignore the lines of a discarded process.
      if (!last || !handler) continue;
      here = event.instance;
      handler.place = last;
      if (handler.how === 'asks' && handler.isLive) handler.how = 'runs';
    } else if (event.kind === 'message') {
      const handler = handlers.get(event.from);
      if (!handler || isNotice(event.message)) continue;
      handler.how = asks(event.message) ? 'asks' : 'left';
      handler.isLive = event.message.method !== undefined;
    } else if (event.kind === 'question') {
      const held = rows.find((row) => row.at === at)?.held ?? [];
      for (const [instance, handler] of handlers)
        if (handler.how === 'asks' && event.framesHeld > 0 && held.includes(instance)) handler.how = 'waits';
        // A handler behind an old client's open request may still wait.
        else if (handler.how === 'asks' && !handler.isLive && isSeen) handler.how = 'left';
    } else if (event.kind === 'kill' || event.kind === 'restart') handlers.delete(event.instance);
  }
  const waiting = [...handlers].find(([, { how, place }]) => how === 'waits' && place);
  const latest = here === undefined ? undefined : handlers.get(here);
  const { place, how = 'runs' } = (latest?.place ? latest : waiting?.[1]) ?? {};
  return place && { file: place[0], line: place[1], how };
}

/** The handler of an instance. */
interface Handler {
  how: How;
  /** The latest line. */
  place?: SourceLine;
  /** Whether it asked over an old client's open stream. */
  isLive?: boolean | undefined;
}

/** The line that caused a row: the last one that ran in its instance before it. */
export function placeOf({ at, event }: Pick<Row, 'at' | 'event'>, events: Events): SourceLine | undefined {
  const instance = 'instance' in event ? event.instance : event.kind === 'message' ? event.from : undefined;
  if (instance === undefined || instance === CLIENT) return undefined;
  const before = events
    .slice(0, at)
    .findLast((one) => (one.kind === 'entry' || one.kind === 'lines') && one.instance === instance);
  return before?.kind === 'lines' ? before.order?.at(-1) : undefined;
}

/** The place of the entry that caused a row. */
export const entryOf = ({ at, event }: Pick<Row, 'at' | 'event'>, events: Events) =>
  events
    .slice(0, at)
    .findLastIndex((one) => one.kind === 'entry' && 'instance' in event && one.instance === event.instance);

/** The rows that came right after a run of the line. */
export function rowsThatRan(
  rows: readonly Row[],
  events: Events,
  [file, line]: SourceLine,
): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [at, event] of events.entries()) {
    if (event.kind !== 'lines' || event.files[file]?.[line] === undefined) continue;
    const row = rows.find((one) => one.at > at) ?? rows.at(-1);
    if (row) found.add(row.at);
  }
  return found;
}

/** The lines that ran: since the latest request or entry, with its instance; and all of them, by entry. */
export type Ran = ReturnType<typeof linesRun>;

export function linesRun(events: Events) {
  let [now, here]: [LinesRun[], string | undefined] = [[], undefined];
  const all: { entry: number; files: LinesRun }[] = [];
  const entries = new Map<string, number>();
  for (const [place, event] of events.entries()) {
    const reached = event.kind === 'entry' ? event.instance : receiverOf(event);
    if (reached !== undefined) {
      [now, here] = [[], reached];
      // Lines that run before the next entry, such as tool registration, belong to no entry.
      entries.delete(reached);
    }
    if (event.kind === 'entry') entries.set(event.instance, place);
    if (event.kind !== 'lines') continue;
    all.push({ entry: entries.get(event.instance) ?? -1, files: event.files });
    if (event.instance === here) now.push(event.files);
  }
  return { now, all };
}

/** The instance that a message of the client reached. */
const receiverOf = (event: TranscriptEvent) =>
  event.kind === 'message' && event.from === CLIENT && !event.lost && !isNotice(event.message)
    ? event.to
    : undefined;

const isNotice = ({ method }: WireMessage) =>
  typeof method === 'string' && method.startsWith('notifications/');

/** The marks of a line at a step: whether it has run, whether and where it runs now, and in how many entries it ran. */
export function marksOf(file: string, { now, all }: Ran, line: number) {
  const ran = all.filter(({ files }) => files[file]?.[line] !== undefined);
  const run = now.map((files) => files[file]?.[line]).reduce(mergeRuns, undefined);
  const entries = new Set(ran.map(({ entry }) => entry).filter((entry) => entry >= 0));
  return { isLit: ran.length > 0, run, count: entries.size };
}

type Run = Lines[string] | undefined;

/** Merges the runs of a line in two stretches of one entry. */
function mergeRuns(one: Run, other: Run) {
  if (typeof one !== 'object' || typeof other !== 'object')
    return typeof one === 'object' ? (other ?? one) : (one ?? other);
  const countAt = (run: typeof one, at: number) => run.findLast(([column]) => column <= at)?.[1] ?? 0;
  const columns = [...new Set([...one, ...other].map(([column]) => column))].sort((a, b) => a - b);
  return columns.map((at) => [at, Math.max(countAt(one, at), countAt(other, at))] as const);
}
