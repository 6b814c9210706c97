/** Describes a side in one sentence from its transcript, and the difference between two sides. */
import { eventsOf, objectIn, type Row, resultText } from '@mrtr/harness/transcript';
import type { TranscriptSoFar } from '../../../src/protocol.ts';
import { entryOf, linesRun, placeOf, type Stand, standsAt } from './code.ts';
import { countsAt, isBroken, latestTone } from './model.ts';

/** A side at a step. */
export interface Seen {
  /** The name, for example `B`. */
  readonly name: string;
  readonly conversation: TranscriptSoFar;
  /** The rows and the events so far. */
  readonly rows: readonly Row[];
  readonly events: TranscriptSoFar['events'];
  readonly stand: Stand | undefined;
  readonly isEnd: boolean;
}

/** The shape of a title such as `B · await` or `b · await`: its letter, or all of a title that has none. */
export const shortName = (title: string): string => {
  const [name = title] = title.split(' · ');
  return name.length === 1 ? name.toUpperCase() : name;
};

export function describe(seen: Seen): string {
  const { rows, isEnd } = seen;
  const end = isSeenInside(seen) ? ending : endingFromOutside;
  return brokenPromise(seen) ?? refusal(seen) ?? (isEnd && rows.length > 0 ? end(seen) : moment(seen));
}

/** Whether what the server writes, and whether its handlers wait, was seen. */
const isSeenInside = ({ conversation }: Seen): boolean =>
  conversation.participants.some(({ kind }) => kind === 'world');

/** The end of a call to a server whose effects are not seen: the lines that ran again, if lines were traced. */
function endingFromOutside(seen: Seen): string {
  const { name, conversation, events } = seen;
  const { error, result = {} } = conversation.end ?? {};
  if (hasFailed(seen)) return `${name} ended with an error: ${clip(error?.message ?? resultText(result))}`;
  const entries = eventsOf('entry', events).length;
  const questions = eventsOf('question', events).length;
  if (entries === 0)
    return `${name} asked ${questions === 0 ? 'nothing' : timesOf(questions)}, and answered.`;
  const entered = `${name}’s handler was entered ${timesOf(entries)}`;
  const again = linesAgain(events);
  if (again) return `${entered}: ${again} ran again.`;
  return questions === 0 ? `${entered}, and asked nothing.` : `${entered}: no line ran again.`;
}

/** The lines that ran in more than one entry, such as `lines 9 to 11 and 14`. */
function linesAgain(events: Seen['events']): string | undefined {
  const { all } = linesRun(events);
  const entriesOf = new Map<number, Set<number>>();
  for (const { entry, files } of all.filter((one) => one.entry >= 0))
    for (const line of Object.values(files).flatMap(Object.keys))
      entriesOf.set(Number(line), (entriesOf.get(Number(line)) ?? new Set()).add(entry));
  const again = [...entriesOf].filter(([, entries]) => entries.size > 1).map(([line]) => line);
  const ranges = again
    .sort((one, other) => one - other)
    .reduce<[number, number][]>((found, line) => {
      const last = found.at(-1);
      if (last?.[1] === line - 1) last[1] = line;
      else found.push([line, line]);
      return found;
    }, []);
  if (ranges.length === 0) return undefined;
  const words = ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
  const last = words.pop();
  return `${again.length === 1 ? 'line' : 'lines'} ${words.length > 0 ? `${words.join(', ')} and ` : ''}${last}`;
}

const THINGS: Readonly<Record<string, string>> = { audit: 'its audit record', write: 'the item' };

function brokenPromise({ name, rows, events: seenEvents, conversation }: Seen): string | undefined {
  const event = rows.findLast(isBroken)?.event;
  if (event?.kind !== 'effect') return undefined;
  const { events, participants } = conversation;
  const { name: kind, detail } = event;
  const same = rows.filter(
    ({ event: one }) => one.kind === 'effect' && one.name === kind && one.detail === detail,
  );
  if (same.length < 2 && event.again) return `${name} repeated an effect: ${kind}, ${clip(detail)}.`;
  const wrote = kind === 'effect' ? `${name} had its effect` : `${name} wrote ${THINGS[kind] ?? kind}`;
  if (same.length < 2) {
    const isAgent = participants.some((one) => one.kind === 'person' && one.isAgent);
    return isAgent
      ? `${wrote}, and no person agreed: a program answered.`
      : `${wrote}, and nobody agreed: it believed what was changed on the way.`;
  }
  const times = timesOf(same.length);
  const lines = new Set(same.map((one) => placeOf(one, events)?.[1]));
  const entries = new Set(same.map((one) => entryOf(one, events)));
  const [line] = lines;
  // The second entry broke the promise only if each entry ran the line once.
  if (lines.size > 1 || line === undefined || entries.size < same.length) return `${wrote} ${times}.`;
  const handlers = seenEvents.flatMap((one, at) =>
    one.kind === 'entry' && one.part === 'handler' ? [at] : [],
  );
  const isAll = handlers.length === 2 && handlers.every((at) => entries.has(at));
  const where = isAll ? 'both times the handler was entered' : `in ${entries.size} entries`;
  return `${wrote} ${times}: line ${line} ran ${where}.`;
}

function refusal({ name, rows, events }: Seen): string | undefined {
  if (latestTone(rows) !== 'refused') return undefined;
  const state = eventsOf('state', events).findLast(({ phase }) => phase === 'rejected');
  const wrote = eventsOf('effect', events).some((one) => one.name === 'write');
  const refused = `${name} refused${state ? ' the state' : ''}${wrote ? '' : ' and wrote nothing'}`;
  return state
    ? `${refused}. The operator sees why: ${state.reason ?? 'no reason'}.`
    : `${refused}: no person pressed the button.`;
}

function ending(seen: Seen): string {
  const { name, conversation, rows, events } = seen;
  const effects = eventsOf('effect', events);
  const writes = effects.filter((one) => one.name === 'write').length;
  // A call that failed may have written all the same.
  const wrote = describeWrites(writes, effects.length - writes);
  const loss = rows.find(isLoss);
  if (hasFailed(seen)) {
    const { error, result = {} } = conversation.end ?? {};
    if (!loss)
      return `${name} ${wrote}, and ended with an error: ${clip(error?.message ?? resultText(result))}`;
    const why =
      loss.event.kind === 'message'
        ? 'its handler still waits where the answer did not go'
        : 'the process that its handler waited in is gone';
    return `${name} ${wrote}, and lost the call: ${why}.`;
  }
  const waited = loss ? undefined : waitingLine(rows, conversation.events);
  if (waited !== undefined) return `${name} ${wrote}: its handler waited on line ${waited}.`;
  const handlers = eventsOf('entry', events).filter(({ part }) => part === 'handler').length;
  return handlers > 1 ? `${name} ran its handler ${timesOf(handlers)}, and ${wrote}.` : `${name} ${wrote}.`;
}

function describeWrites(writes: number, records: number): string {
  if (writes > 0) return `wrote the item ${timesOf(writes)}`;
  if (records > 1) return `made ${records} different records, each once`;
  return records === 1 ? 'wrote once' : 'wrote nothing';
}

const timesOf = (count: number): string => ['once', 'twice'][count - 1] ?? `${count} times`;

const clip = (text: string): string => (text.length > 90 ? `${text.slice(0, 88)}…` : text);

/** Whether a parked handler was lost: its instance ended, or it is still parked when the call is over. */
const isLoss = (row: Row, at: number, rows: readonly Row[]): boolean =>
  endsHandler(row, at, rows) || (at === rows.length - 1 && row.held.length > 0);

/** Whether an instance ended, and a handler waited in its memory. */
const endsHandler = ({ event }: Row, at: number, rows: readonly Row[]): boolean =>
  (event.kind === 'kill' || event.kind === 'restart') && rows[at - 1]?.held.includes(event.instance) === true;

/** The line where a parked handler waited. */
function waitingLine(rows: readonly Row[], events: TranscriptSoFar['events']): number | undefined {
  for (const [at, row] of rows.entries()) {
    if (row.event.kind !== 'question') continue;
    const stand = standsAt(events.slice(0, row.at + 1), rows.slice(0, at + 1));
    if (stand?.how === 'waits') return stand.line;
  }
  return undefined;
}

function moment({ name, rows, stand, conversation }: Seen): string {
  const last = rows.at(-1);
  if (!last) return `${name}: nothing has happened yet.`;
  const { event, held } = last;
  const isWaiting = stand?.how === 'waits';
  if (endsHandler(last, rows.length - 1, rows))
    return `${name}’s handler is gone: its process was ${event.kind === 'kill' ? 'killed' : 'replaced'} while it waited.`;
  if (event.kind === 'question') {
    if (isWaiting)
      return `${name}’s handler waits on line ${stand.line}, in the memory of ${laneName(conversation, held)}.`;
    if (!isSeenInside({ conversation } as Seen))
      return stand ? `${name} asks on line ${stand.line}.` : `${name} asks.`;
    return held.length > 0
      ? `${name}’s request stays open while its client asks.`
      : `${name}’s handler has returned. The client holds the question.`;
  }
  if (event.kind === 'entry') {
    const { part, name: of = '' } = event;
    if (part !== 'handler') return `${name} runs its ${part === 'end' ? 'end step' : `${part} ${of}`}.`;
    const isFirst = rows.find((row) => row.event.kind === 'entry' && row.event.part === 'handler') === last;
    return `${name}’s handler is entered${isFirst ? '' : ' again, from its top'}.`;
  }
  if (event.kind === 'answer') return `${name}’s user says: ${clip(last.text)}.`;
  if (last.tone === 'request' && event.kind === 'message' && !event.lost)
    return `${name} is called${last.round > 1 ? ' again, with the answer' : ''}.`;
  if (stand?.how === 'runs') {
    const hasWaited = waitingLine(rows, conversation.events) === stand.line;
    return hasWaited
      ? `${name} continues on line ${stand.line}, where it waited.`
      : `${name} is on line ${stand.line}.`;
  }
  return isWaiting ? `${name}’s handler still waits on line ${stand.line}.` : `${name}: ${clip(last.text)}`;
}

const laneName = ({ participants }: TranscriptSoFar, [lane]: Row['held']): string =>
  participants.find(({ id }) => id === lane)?.label.replace(/^server$/, 'the server') ?? 'the server';

/** The difference between the heads of two ended sides. */
export function difference(left: Seen, right: Seen): string | undefined {
  if ([left, right].some(({ isEnd, rows }) => !isEnd || rows.length === 0)) return undefined;
  if (toolOf(left) !== toolOf(right)) return undefined;
  const [ours, theirs] = [countsOf(left), countsOf(right)];
  const differing = [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((name) => {
    const [one, other] = [ours.get(name) ?? '0', theirs.get(name) ?? '0'];
    return Number.parseInt(one, 10) === Number.parseInt(other, 10) ? [] : [`${name}: ${one} and ${other}`];
  });
  if (hasFailed(left) !== hasFailed(right))
    differing.push(
      `the end: ${[left, right].map((one) => (hasFailed(one) ? 'an error' : 'a result')).join(' and ')}`,
    );
  return differing.length === 0 ? 'Both sides count the same.' : `They differ in ${differing.join('; ')}.`;
}

/** The numbers that are compared, by name. */
const countsOf = ({ conversation, events }: Seen): ReadonlyMap<string, string> =>
  new Map(
    countsAt(conversation, events)
      .filter(([, name]) => name !== 'state' && name !== 'held')
      .map(([number, name]) => [name.replace(/(record|write|round)s$/, '$1'), number]),
  );

const hasFailed = ({ conversation: { end } }: Seen): boolean =>
  end?.error !== undefined || end?.result?.isError === true;

/** The tool of a call: two calls of different tools are not compared. */
const toolOf = ({ conversation: { events } }: Seen): unknown =>
  objectIn(eventsOf('message', events)[0]?.message ?? {}, 'params').name;
