/** Describes a side in one sentence from its transcript, and the difference between two sides. */
import { CLIENT, eventsOf, objectIn, type Row, resultText } from '@mrtr/harness/transcript';
import type { TranscriptSoFar } from '../../../src/protocol.ts';
import { entryOf, linesRun, placeOf, type Stand, standsAt } from './code.ts';
import { countsAt, isBroken, isSeenInside, latestTone } from './model.ts';

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
export const shortName = (title: string) => {
  const [name = title] = title.split(' · ');
  return name.length === 1 ? name.toUpperCase() : name;
};

/** The first rule that applies describes a side. */
export function describe(facts: Facts) {
  const [words = ': nothing has happened yet.'] = RULES.flatMap((rule) => rule(facts) || []);
  return facts.name + words;
}

/** Bad: a broken promise, even if the call ended with an error. Safe: a refusal that did its work. */
export function moodOf({ judged, broken, rows, refused }: Facts) {
  if (judged) return judged.isBad ? 'bad' : 'safe';
  if (broken || latestTone(rows) === 'error') return 'bad';
  return refused ? 'safe' : '';
}

/** What the rules decide by. */
export type Facts = ReturnType<typeof factsOf>;

export function factsOf(seen: Seen) {
  const { rows, events, conversation, stand, isEnd } = seen;
  const effects = eventsOf('effect', events);
  const latest = rows.findLast(isBroken);
  const [broken] = latest ? eventsOf('effect', [latest.event]) : [];
  const writes = effects.filter(({ name }) => name === 'write').length;
  const last = rows.at(-1);
  const isOver = isEnd && last !== undefined && !broken;
  const isInside = isSeenInside(conversation);
  const isAnswered = isOver && !isInside;
  return {
    ...{ ...seen, last, broken },
    /** The rows of the effect that broke a promise: it and its repetitions. */
    same: rows.filter(
      ({ event }) => event.kind === 'effect' && event.name === broken?.name && event.detail === broken.detail,
    ),
    wrote: broken && wordsOf(broken),
    isDeclined: latest?.text.endsWith('DECLINED') === true,
    refused: latestTone(rows) === 'refused',
    hasWritten: writes > 0,
    isAgent: conversation.participants.some((one) => one.kind === 'person' && one.isAgent),
    isInside,
    /** What a call that is over wrote. One that failed may have written all the same. */
    ended: isOver && isInside ? describeWrites(writes, effects.length - writes) : undefined,
    /** Whether a call is over whose effects are not seen. */
    isAnswered,
    /** What a call that is over shows from outside of a fault. */
    judged: isAnswered ? judgeFromOutside(events) : undefined,
    loss: rows.find(isLoss),
    isGone: last !== undefined && endsHandler(last, rows.length - 1, rows),
    waited: waitingLine(rows, conversation.events),
    waits: stand?.how === 'waits' ? stand.line : undefined,
    handlers: eventsOf('entry', events).filter(({ part }) => part === 'handler').length,
  };
}

type Rule = (facts: Facts) => string | false | undefined;

/** Each rule is true wherever it applies: their order decides only what matters most. */
export const RULES: readonly Rule[] = [
  ({ last, conversation }) =>
    !last &&
    conversation.end?.error &&
    `: the call could not be made. ${clip(conversation.end.error.message)}`,
  // A broken promise.
  ({ broken, same }) =>
    broken?.again && same.length < 2 && ` repeated an effect: ${broken.name}, ${clip(broken.detail)}.`,
  ({ broken, same, wrote, isAgent, isDeclined }) => {
    if (!broken || broken.again || same.length > 1) return undefined;
    if (isDeclined) return `${wrote}, and the user had declined.`;
    const why = isAgent
      ? 'no person agreed: a program answered'
      : 'nobody agreed: it believed what was changed on the way';
    return `${wrote}, and ${why}.`;
  },
  ({ same, wrote, ...facts }) =>
    same.length > 1 && `${wrote} ${timesOf(same.length)}${describeLine(same, facts)}.`,
  // A refusal that did its work.
  ({ refused, events, hasWritten }) => {
    const state = eventsOf('state', events).findLast(({ phase }) => phase === 'rejected');
    const why = state
      ? `. The operator sees why: ${reasonText(state.reason)}`
      : ': no person pressed the button';
    return refused && ` refused${state ? ' the state' : ''}${hasWritten ? '' : ' and wrote nothing'}${why}.`;
  },
  // The end of the call.
  (facts) => {
    if (!facts.ended || !facts.loss || !hasFailed(facts)) return undefined;
    const why =
      facts.loss.event.kind === 'message'
        ? 'its handler still waits where the answer did not go'
        : 'the process that its handler waited in is gone';
    return ` ${facts.ended}, and lost the call: ${why}.`;
  },
  ({ judged }) => judged?.words,
  (facts) => {
    const { ended, isAnswered, conversation } = facts;
    const { error, result = {} } = conversation.end ?? {};
    if (!(ended || isAnswered) || !hasFailed(facts)) return undefined;
    return `${ended ? ` ${ended}, and` : ''} ended with an error: ${clip(error?.message ?? resultText(result))}`;
  },
  ({ isAnswered, events }) => {
    const entries = eventsOf('entry', events).length;
    const questions = eventsOf('question', events).length;
    if (!isAnswered) return undefined;
    if (entries === 0) return ` asked ${questions === 0 ? 'nothing' : timesOf(questions)}, and answered.`;
    const effects = eventsOf('effect', events).length;
    const once = effects === 0 ? '' : `, and ${effects === 1 ? 'its effect' : 'each effect'} came once`;
    const again = linesAgain(events);
    const none = questions === 0 ? ', and asked nothing' : ': no line ran again';
    return `’s handler was entered ${timesOf(entries)}${again ? `: ${again} ran again` : none}${once}.`;
  },
  ({ ended, loss, waited }) =>
    ended && !loss && waited !== undefined && ` ${ended}: its handler waited on line ${waited}.`,
  ({ ended, handlers }) => ended && handlers > 1 && ` ran its handler ${timesOf(handlers)}, and ${ended}.`,
  ({ ended }) => ended && ` ${ended}.`,
  // A moment of it.
  ({ isGone, last }) =>
    isGone &&
    `’s handler is gone: its process was ${last?.event.kind === 'kill' ? 'killed' : 'replaced'} while it waited.`,
  ({ waits, last, conversation }) =>
    last?.event.kind === 'question' &&
    waits !== undefined &&
    `’s handler waits on line ${waits}, in the memory of ${laneName(conversation, last.held)}.`,
  ({ last, stand, isInside, events }) => {
    if (last?.event.kind !== 'question' || isInside) return undefined;
    const again = linesAgain(events);
    return ` asks${stand ? ` on line ${stand.line}` : ''}${again ? `, and ${again} ran again` : ''}.`;
  },
  ({ last, isInside }) =>
    last?.event.kind === 'question' &&
    isInside &&
    (last.held.length > 0
      ? '’s request stays open while its client asks.'
      : '’s handler has returned. The client holds the question.'),
  ({ last, handlers }) => {
    if (last?.event.kind !== 'entry') return undefined;
    const { part, name: of = '' } = last.event;
    if (part !== 'handler') return ` runs its ${part === 'end' ? 'end step' : `${part} ${of}`}.`;
    return `’s handler is entered${handlers === 1 ? '' : ' again, from its top'}.`;
  },
  ({ last }) => last?.event.kind === 'answer' && `’s user says: ${clip(last.text)}.`,
  ({ last }) =>
    last?.tone === 'request' &&
    last.event.kind === 'message' &&
    !last.event.lost &&
    ` is called${last.round > 1 ? ' again, with the answer' : ''}.`,
  ({ stand, waited }) =>
    stand?.how === 'runs' &&
    (waited === stand.line ? ` continues on line ${waited}, where it waited.` : ` is on line ${stand.line}.`),
  ({ waits }) => waits !== undefined && `’s handler still waits on line ${waits}.`,
  ({ last }) => last && `: ${clip(last.text)}`,
];

/** What a server did with the states that were changed on their way, or with a retry that came twice. */
function judgeFromOutside(events: Seen['events']) {
  const messages = eventsOf('message', events);
  const resultAfter = (at: number) =>
    objectIn(messages.slice(at + 1).find(({ from }) => from !== CLIENT)?.message ?? {}, 'result');
  const keysIn = (result: Readonly<Record<string, unknown>>) =>
    Object.keys(objectIn(result, 'inputRequests'));
  const isTaken = ({ resultType, isError }: ReturnType<typeof resultAfter>) =>
    resultType === 'complete' && isError !== true;
  const changed = messages.flatMap(({ altered }, at) => (altered ? [at] : []));
  for (const at of changed) {
    const result = resultAfter(at);
    const asked = messages.slice(0, at).flatMap(({ message }) => keysIn(objectIn(message, 'result')));
    // A server that rejects a state may ask again what it has asked. Only one that believes it asks something else.
    const [next] = keysIn(result).filter((key) => !asked.includes(key));
    if (isTaken(result) || next !== undefined) {
      const then = next === undefined ? clip(resultText(result)) : `it asked “${clip(next)}” next.`;
      return { isBad: true, words: ` took a state that was changed on its way: ${then}` };
    }
  }
  if (changed.length > 0 && changed.every((at) => resultAfter(at).resultType === undefined))
    return { isBad: false, words: ' rejected the state that was changed on its way.' };
  const again = messages.findIndex((one) => one.again);
  const before = messages.findLastIndex(({ from }, at) => at < again && from === CLIENT);
  const results = [before, again].map(resultAfter);
  const [one = '', other = ''] = results.map(resultText);
  if (again < 0 || !results.every(isTaken) || one === other) return undefined;
  return { isBad: true, words: ` gave one retry two results: “${clip(one)}” and “${clip(other)}”` };
}

/** The lines that ran in more than one entry, such as `lines 9 to 11 and 14`. */
function linesAgain(events: Seen['events']) {
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
  const words = ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
  if (words.length === 0) return undefined;
  return `${again.length === 1 ? 'line' : 'lines'} ${new Intl.ListFormat('en-GB').format(words)}`;
}

const THINGS: Readonly<Record<string, string>> = { audit: 'its audit record', write: 'the item' };

/** What an effect did. The author named some by their lines, and sees others change a probe. */
function wordsOf({ name, detail }: { readonly name: string; readonly detail: string }) {
  if (name.startsWith('line ')) return ` ran ${clip(detail)}`;
  return name === 'probe' ? ' changed what the probe reads' : ` wrote ${THINGS[name] ?? name}`;
}

/** The line of an effect that was repeated, if each entry ran it once: then the further entry broke the promise. */
function describeLine(
  same: readonly Row[],
  { conversation, events }: Pick<Facts, 'conversation' | 'events'>,
) {
  const lines = new Set(same.map((one) => placeOf(one, conversation.events)?.[1]));
  const entries = new Set(same.map((one) => entryOf(one, conversation.events)));
  const [line] = lines;
  if (lines.size > 1 || line === undefined || entries.size < same.length) return '';
  const handlers = events.flatMap((one, at) => (one.kind === 'entry' && one.part === 'handler' ? [at] : []));
  const isAll = handlers.length === 2 && handlers.every((at) => entries.has(at));
  return `: line ${line} ran ${isAll ? 'both times the handler was entered' : `in ${entries.size} entries`}`;
}

/** The meanings of the codes that an operator sees. */
const REASONS: Readonly<Record<string, string>> = {
  tampered: 'the state was altered on its way',
  unknown_key: 'the state is sealed with a key that this server does not have',
  other_arguments: 'the state belongs to a call with other arguments',
  other_principal: 'the state belongs to another user',
  already_used: 'this state was served before',
  other_version: 'the state was sealed by another version of the code',
};

/** Says what a code means. */
export const reasonText = (code = 'no reason') => REASONS[code] ?? code.replaceAll('_', ' ');

function describeWrites(writes: number, records: number) {
  if (writes > 0) return `wrote the item ${timesOf(writes)}`;
  if (records > 1) return `made ${records} different records, each once`;
  return records === 1 ? 'wrote once' : 'wrote nothing';
}

const timesOf = (count: number) => ['once', 'twice'][count - 1] ?? `${count} times`;

const clip = (text: string) => (text.length > 90 ? `${text.slice(0, 88)}…` : text);

/** Whether a parked handler was lost: its instance ended, or it is still parked when the call is over. */
const isLoss = (row: Row, at: number, rows: readonly Row[]) =>
  endsHandler(row, at, rows) || (at === rows.length - 1 && row.held.length > 0);

/** Whether an instance ended, and a handler waited in its memory. */
const endsHandler = ({ event }: Row, at: number, rows: readonly Row[]) =>
  (event.kind === 'kill' || event.kind === 'restart') && rows[at - 1]?.held.includes(event.instance) === true;

/** The line where a parked handler waited. */
function waitingLine(rows: readonly Row[], events: TranscriptSoFar['events']) {
  for (const [at, row] of rows.entries()) {
    if (row.event.kind !== 'question') continue;
    const stand = standsAt(events.slice(0, row.at + 1), rows.slice(0, at + 1));
    if (stand?.how === 'waits') return stand.line;
  }
  return undefined;
}

const laneName = ({ participants }: TranscriptSoFar, [lane]: Row['held']) =>
  participants.find(({ id }) => id === lane)?.label.replace(/^server$/, 'the server') ?? 'the server';

/** The difference between the heads of two ended sides. */
export function difference(left: Seen, right: Seen) {
  if ([left, right].some(({ isEnd, rows }) => !isEnd || rows.length === 0)) return undefined;
  if (toolOf(left) !== toolOf(right)) return undefined;
  const [ours, theirs] = [countsOf(left), countsOf(right)];
  const differing = [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((name) => {
    const [one = '0', other = '0'] = [ours.get(name), theirs.get(name)];
    return one === other ? [] : `${name}: ${one} and ${other}`;
  });
  return differing.length === 0 ? 'Both sides count the same.' : `They differ in ${differing.join('; ')}.`;
}

/** What is compared, by name. */
const countsOf = (seen: Seen) =>
  new Map([
    ...countsAt(seen.conversation, seen.events)
      .filter(([, name]) => name !== 'state' && name !== 'held')
      .map(
        ([number, name]) =>
          [name.replace(/(record|write|round|request|effect)s$/, '$1'), number.replace('×', '')] as const,
      ),
    ['the end', hasFailed(seen) ? 'an error' : 'a result'],
  ]);

const hasFailed = ({ conversation: { end } }: Seen) =>
  end?.error !== undefined || end?.result?.isError === true;

/** The tool of a call: two calls of different tools are not compared. */
const toolOf = ({ conversation: { events } }: Seen) =>
  objectIn(eventsOf('message', events)[0]?.message ?? {}, 'params').name;
