/** Describes a side in one sentence from its transcript, and the difference between two sides. */
import { eventsOf, objectIn, type Row, resultText } from '@mrtr/harness/transcript';
import type { Conversation } from '../../../src/protocol.ts';
import { entryOf, placeOf, type Stand, standsAt } from './code.ts';
import { countsAt } from './model.ts';

/** A side at a step. */
export interface Seen {
  /** The name, for example `B`. */
  readonly name: string;
  readonly conversation: Conversation;
  /** The rows and the events so far. */
  readonly rows: readonly Row[];
  readonly events: Conversation['events'];
  readonly stand: Stand | undefined;
  readonly isEnd: boolean;
}

/** The shape of a title such as `B · await` or `b · await`: its letter, or all of a title that has none. */
export const shortName = (title: string): string => {
  const [name = title] = title.split(' · ');
  return name.length === 1 ? name.toUpperCase() : name;
};

export function describe(seen: Seen): string {
  const { name, rows, events, isEnd } = seen;
  if (rows.length === 0) return `${name}: nothing has happened yet.`;
  return brokenPromise(seen) ?? refusal(seen) ?? (isEnd && events.length > 0 ? ending(seen) : moment(seen));
}

const THINGS: Readonly<Record<string, string>> = { audit: 'its audit record', write: 'the item' };

function brokenPromise({ name, rows, events: seenEvents, conversation }: Seen): string | undefined {
  const row = rows.findLast(({ event, tone }) => event.kind === 'effect' && tone === 'error');
  if (row?.event.kind !== 'effect') return undefined;
  const { events, participants } = conversation;
  const { name: kind, detail } = row.event;
  const thing = THINGS[kind] ?? kind;
  const same = rows.filter(
    ({ event }) => event.kind === 'effect' && event.name === kind && event.detail === detail,
  );
  if (same.length < 2 && row.event.again) return `${name} repeated an effect: ${kind}, ${clip(detail)}.`;
  if (same.length < 2) {
    const isAgent = participants.some((one) => one.kind === 'person' && one.isAgent);
    return isAgent
      ? `${name} wrote ${thing}, and no person agreed: a program answered.`
      : `${name} wrote ${thing}, and nobody agreed: it believed what was changed on the way.`;
  }
  const times = same.length === 2 ? 'twice' : `${same.length} times`;
  const lines = new Set(same.map((one) => placeOf(one, events)?.[1]));
  const entries = new Set(same.map((one) => entryOf(one, events)));
  const [line] = lines;
  // The second entry broke the promise only if each entry ran the line once.
  if (lines.size > 1 || line === undefined || entries.size < same.length)
    return `${name} wrote ${thing} ${times}.`;
  const handlers = seenEvents.flatMap((event, at) =>
    event.kind === 'entry' && event.part === 'handler' ? [at] : [],
  );
  const isAll = handlers.length === 2 && handlers.every((at) => entries.has(at));
  const where = isAll ? 'both times the handler was entered' : `in ${entries.size} entries`;
  return `${name} wrote ${thing} ${times}: line ${line} ran ${where}.`;
}

function refusal({ name, rows }: Seen): string | undefined {
  const last = rows.findLast(({ event }) => event.kind === 'message');
  if (last?.tone !== 'refused') return undefined;
  const state = rows.findLast(({ event }) => event.kind === 'state' && event.phase === 'rejected')?.event;
  const wrote = rows.some(({ event }) => event.kind === 'effect' && event.name === 'write');
  const what = wrote ? '' : ' and wrote nothing';
  if (state?.kind === 'state')
    return `${name} refused the state${what}. The operator sees why: ${state.reason ?? 'no reason'}.`;
  return `${name} refused${what}: no person pressed the button.`;
}

function ending({ name, conversation, rows, events }: Seen): string {
  const { end } = conversation;
  const effects = eventsOf('effect', events);
  const writes = effects.filter((one) => one.name === 'write').length;
  // A call that failed may have written all the same.
  const wrote = describeWrites(writes, effects.length - writes);
  if (end?.error || end?.result?.isError) {
    const text = end.error?.message ?? resultText(end.result ?? {});
    const loss = rows.find(isLoss);
    if (!loss) return `${name} ${wrote}, and ended with an error: ${clip(text)}`;
    return loss.event.kind === 'message'
      ? `${name} ${wrote}, and lost the call: its handler still waits where the answer did not go.`
      : `${name} ${wrote}, and lost the call: the process that its handler waited in is gone.`;
  }
  const waited = rows.some(isLoss) ? undefined : waitingLine(rows, conversation.events);
  if (waited !== undefined) return `${name} ${wrote}: its handler waited on line ${waited}.`;
  const handlers = eventsOf('entry', events).filter(({ part }) => part === 'handler').length;
  if (handlers > 1) return `${name} ran its handler ${timesOf(handlers)}, and ${wrote}.`;
  return `${name} ${wrote}.`;
}

function describeWrites(writes: number, records: number): string {
  if (writes > 0) return `wrote the item ${timesOf(writes)}`;
  if (records > 1) return `made ${records} different records, each once`;
  return records === 1 ? 'wrote once' : 'wrote nothing';
}

const timesOf = (count: number): string => (count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`);

const clip = (text: string): string => (text.length > 90 ? `${text.slice(0, 88)}…` : text);

/** Whether a parked handler was lost: its instance ended, or it is still parked when the call is over. */
const isLoss = (row: Row, at: number, rows: readonly Row[]): boolean =>
  endsHandler(row, at, rows) || (at === rows.length - 1 && row.held.length > 0);

/** Whether an instance ended, and a handler waited in its memory. */
const endsHandler = ({ event }: Row, at: number, rows: readonly Row[]): boolean =>
  (event.kind === 'kill' || event.kind === 'restart') && rows[at - 1]?.held.includes(event.instance) === true;

/** The line where a parked handler waited. */
function waitingLine(rows: readonly Row[], events: Conversation['events']): number | undefined {
  for (const [at, row] of rows.entries()) {
    if (row.event.kind !== 'question') continue;
    const stand = standsAt(events.slice(0, row.at + 1), rows.slice(0, at + 1));
    if (stand?.how === 'waits') return stand.line;
  }
  return undefined;
}

function moment({ name, rows, stand, conversation }: Seen): string {
  const last = rows.at(-1);
  if (last && endsHandler(last, rows.length - 1, rows))
    return `${name}’s handler is gone: its process was ${last.event.kind === 'kill' ? 'killed' : 'replaced'} while it waited.`;
  if (last?.event.kind === 'question') {
    if (stand?.how === 'waits')
      return `${name}’s handler waits on line ${stand.line}, in the memory of ${laneName(conversation, last)}.`;
    return last.held.length > 0
      ? `${name}’s request stays open while its client asks.`
      : `${name}’s handler has returned. The client holds the question.`;
  }
  if (last?.event.kind === 'entry') {
    const { part, name: of = '' } = last.event;
    if (part !== 'handler') return `${name} runs its ${part === 'end' ? 'end step' : `${part} ${of}`}.`;
    const isFirst = rows.find(({ event }) => event.kind === 'entry' && event.part === 'handler') === last;
    return isFirst ? `${name}’s handler is entered.` : `${name}’s handler is entered again, from its top.`;
  }
  if (last?.event.kind === 'answer') return `${name}’s user says: ${clip(last.text)}.`;
  if (last?.tone === 'request' && last.event.kind === 'message' && !last.event.lost)
    return last.round > 1 ? `${name} is called again, with the answer.` : `${name} is called.`;
  if (stand?.how === 'runs') {
    const hasWaited = waitingLine(rows, conversation.events) === stand.line;
    return hasWaited
      ? `${name} continues on line ${stand.line}, where it waited.`
      : `${name} is on line ${stand.line}.`;
  }
  if (stand?.how === 'waits') return `${name}’s handler still waits on line ${stand.line}.`;
  return `${name}: ${clip(last?.text ?? '')}`;
}

const laneName = ({ participants }: Conversation, { held }: Row): string =>
  participants.find(({ id }) => id === held[0])?.label.replace(/^server$/, 'the server') ?? 'the server';

/** The difference between the heads of two ended sides. */
export function difference(left: Seen, right: Seen): string | undefined {
  if (!left.isEnd || !right.isEnd || left.rows.length === 0 || right.rows.length === 0) return undefined;
  if (toolOf(left) !== toolOf(right)) return undefined;
  const [ours, theirs] = [left, right].map(({ conversation, events }) => countsAt(conversation, events));
  const names = [...new Set([...(ours ?? []), ...(theirs ?? [])].map(([, name]) => stem(name)))];
  const valueIn = (counts: typeof ours, name: string) =>
    counts?.find(([, one]) => stem(one) === name)?.[0] ?? '0';
  const differing = names
    .filter((name) => name !== 'state' && name !== 'held')
    .map((name) => [name, valueIn(ours, name), valueIn(theirs, name)] as const)
    .filter(([, one, other]) => Number.parseInt(one, 10) !== Number.parseInt(other, 10))
    .map(([name, one, other]) => `${name}: ${one} and ${other}`);
  const [failed, other] = [left, right].map(hasFailed);
  if (failed !== other)
    differing.push(`the end: ${failed ? 'an error' : 'a result'} and ${other ? 'an error' : 'a result'}`);
  return differing.length === 0 ? 'Both sides count the same.' : `They differ in ${differing.join('; ')}.`;
}

const hasFailed = ({ conversation: { end } }: Seen): boolean =>
  end?.error !== undefined || end?.result?.isError === true;

/** The tool of a call: two calls of different tools are not compared. */
const toolOf = ({ conversation: { events } }: Seen): unknown =>
  objectIn(eventsOf('message', events)[0]?.message ?? {}, 'params').name;

const stem = (name: string): string => name.replace(/(record|write|round)s$/, '$1');
