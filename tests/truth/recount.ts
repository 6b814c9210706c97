/**
 * Facts about a conversation after some of its events, counted independently. It judges the layout and all drawings, so
 * it imports only types from them.
 */
import type { Message, TranscriptEvent, WireMessage } from '@mrtr/harness/transcript';

type Events = readonly TranscriptEvent[];
type Of<Kind extends TranscriptEvent['kind']> = Extract<TranscriptEvent, { kind: Kind }>;

const CALLS = ['tools/call', 'prompts/get', 'resources/read'];
const ASKS = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

const resultOf = ({ result }: WireMessage) => (result ?? {}) as Record<string, unknown>;
const ofKind = <Kind extends TranscriptEvent['kind']>(events: Events, kind: Kind) =>
  events.filter((event): event is Of<Kind> => event.kind === kind);
const isFromClient = (event: TranscriptEvent): event is Message & { at: number } =>
  event.kind === 'message' && event.from === 'client';
const isNotice = ({ message }: Message): boolean => String(message.method).startsWith('notifications/');
/** The instance that received a client's message. */
const reached = (event: TranscriptEvent): string | undefined =>
  isFromClient(event) && !isNotice(event) && !event.lost ? event.to : undefined;
const isAsking = ({ from, message }: Message): boolean =>
  from !== 'client' &&
  (ASKS.includes(String(message.method)) || resultOf(message).resultType === 'input_required');

/** Counts the drawn messages, and those that reached nobody. */
export function countMessages(events: Events) {
  const drawn = ofKind(events, 'message').filter((one) => !isNotice(one));
  const lost = drawn.filter((one) => one.lost || one.to === undefined);
  const sent = drawn.filter(({ from }) => from === 'client');
  return {
    lost: lost.length,
    replaced: drawn.filter((one) => one.replaced).length,
    arrived: sent.filter((one) => !lost.includes(one)).length,
  };
}

/** The lost requests, except those that an attacker replaced. */
export const findLost = (events: Events): Events =>
  ofKind(events, 'message').filter((one) => one.from === 'client' && one.lost && !one.replaced);

/** The lanes with a parked handler, once for each handler. */
export function countHeld(events: Events): readonly string[] {
  let asked: string[] = [];
  let held: string[] = [];
  let live = 0;
  const takeOne = (lanes: string[], lane: string) => {
    const at = lanes.lastIndexOf(lane);
    return lanes.filter((_, index) => index !== at);
  };
  for (const event of events) {
    if (event.kind === 'message' && isAsking(event)) {
      asked.push(event.from);
      if (event.message.method !== undefined) live++;
    }
    const frames = 'framesHeld' in event ? Math.max(event.framesHeld, live) : undefined;
    if (frames !== undefined) held = frames === 0 ? [] : asked.slice(-frames);
    const to = reached(event);
    if (to !== undefined) [asked, held] = [takeOne(asked, to), takeOne(held, to)];
    if (isFromClient(event) && event.message.method === undefined) live--;
    if (event.kind === 'kill' || event.kind === 'restart')
      [asked, held] = [asked, held].map((lanes) => lanes.filter((lane) => lane !== event.instance)) as [
        [],
        [],
      ];
  }
  return held;
}

const HEAD_WORDS = {
  handler: 'entered',
  step: 'steps run',
  end: 'end step run',
  resolver: 'resolvers run',
  body: 'body run',
} as const;

/** The numbers in the head, by their labels in the singular. */
export function countAll(events: Events): Readonly<Record<string, string>> {
  const effects = (name: string) => `${ofKind(events, 'effect').filter((one) => one.name === name).length}`;
  const requests = events.filter(
    (event) =>
      isFromClient(event) && CALLS.includes(String(event.message.method)) && !event.lost && !event.again,
  );
  const entries: Record<string, string> = {};
  for (const { part } of ofKind(events, 'entry'))
    entries[HEAD_WORDS[part]] = `${Number.parseInt(entries[HEAD_WORDS[part]] ?? '0', 10) + 1}×`;
  const state = ofKind(events, 'message')
    .filter(({ from }) => from !== 'client')
    .map(({ message }) => resultOf(message).requestState)
    .findLast((one) => typeof one === 'string');
  return {
    'audit record': effects('audit'),
    write: effects('write'),
    ...(Object.keys(entries).length > 0 ? entries : { entered: '0×' }),
    round: `${requests.length}`,
    asked: `${ofKind(events, 'question').length}`,
    state: state === undefined ? '–' : `${String(state).length} B`,
    held: `${countHeld(events).length}`,
  };
}

/** Whether the user refused when she was asked last. */
function hasDeclined(events: Events): boolean {
  const { reply } = ofKind(events, 'answer').at(-1) ?? {};
  return typeof reply === 'object' && ['decline', 'cancel'].includes(reply.action);
}

/** Judges a row: a broken promise, a refusal that did its work, or neither. `isAgent`: a program answers. */
export function judge(events: Events, at: number, isAgent: boolean): 'broken' | 'refused' | undefined {
  const [event, before] = [events[at], events.slice(0, at)];
  if (event?.kind === 'effect') {
    const isSame = ({ name, detail }: Of<'effect'>) => name === event.name && detail === event.detail;
    const isSecond = event.again || ofKind(before, 'effect').some(isSame);
    const request = before.findLast((one) => reached(one) !== undefined);
    const isForged = event.name !== 'audit' && request?.kind === 'message' && request.altered;
    const isUnattended = event.name !== 'audit' && isAgent && ofKind(before, 'visit').length === 0;
    const isRefused = event.name !== 'audit' && hasDeclined(before);
    return isSecond || isForged || isUnattended || isRefused ? 'broken' : undefined;
  }
  if (event?.kind === 'state') return event.phase === 'rejected' ? 'refused' : undefined;
  if (event?.kind !== 'message') return undefined;
  if (event.message.error === undefined && resultOf(event.message).isError !== true) return undefined;
  if (isFromClient(event)) return 'broken';
  if (isAgent && ofKind(before, 'visit').length === 0) return 'refused';
  const since = before.slice(before.findLastIndex((one) => reached(one) === event.from));
  return since.some((one) => one.kind === 'state' && one.phase === 'rejected' && one.instance === event.from)
    ? 'refused'
    : 'broken';
}

/** The state of a lane's handler from its last event, and its last reported line in this entry. */
function standIn(events: Events, lane: string): { readonly line: number | undefined; readonly how: string } {
  let [how, line, isLive] = ['nothing', undefined as number | undefined, false];
  for (const [at, event] of events.entries()) {
    const isOwn = 'instance' in event && event.instance === lane;
    if (isOwn && (event.kind === 'kill' || event.kind === 'restart')) [how, line] = ['nothing', undefined];
    if (isOwn && event.kind === 'entry') [how, line] = ['runs', undefined];
    if (isOwn && event.kind === 'lines' && event.order?.length && how !== 'nothing') {
      line = event.order.at(-1)?.[1];
      if (how === 'asks' && isLive) how = 'runs';
    }
    if (reached(event) === lane && how === 'waits') how = 'runs';
    if (event.kind === 'message' && event.from === lane) {
      if (how !== 'nothing') how = isAsking(event) ? 'asks' : 'left';
      // A separate request: the server asks an old client.
      isLive = event.message.method !== undefined;
    }
    if (event.kind !== 'question' || how !== 'asks') continue;
    const isParked = event.framesHeld > 0 && countHeld(events.slice(0, at + 1)).includes(lane);
    how = isParked ? 'waits' : isLive ? 'asks' : 'left';
  }
  return { line, how };
}

/** The program counter: its line, and whether the handler runs, asks, waits in memory, or has returned. */
export function findStand(events: Events): { readonly line: number; readonly how: string } | undefined {
  const lanes = ['i1', 'i2', 'i3'];
  const ran = (event: TranscriptEvent, at: number): string | undefined => {
    if (event.kind === 'entry') return event.instance;
    const how = (lane: string) => standIn(events.slice(0, at), lane).how;
    if (event.kind === 'lines')
      return event.order?.length && how(event.instance) !== 'nothing' ? event.instance : undefined;
    const lane = reached(event);
    return lane !== undefined && how(lane) === 'waits' ? lane : undefined;
  };
  const latest = events.findLastIndex((event, at) => ran(event, at) !== undefined);
  const here = events[latest] && ran(events[latest], latest);
  const waiting = lanes.filter((lane) => standIn(events, lane).how === 'waits');
  const stands = [here, ...waiting].flatMap((lane) => (lane === undefined ? [] : standIn(events, lane)));
  const stand = stands.find(({ line }) => line !== undefined);
  return stand && { ...stand, line: stand.line as number };
}

const TIMES: Readonly<Record<string, number>> = { once: 1, twice: 2, both: 2 };
const numberOf = (word = ''): number => TIMES[word] ?? Number.parseInt(word, 10);

type Claims = readonly (readonly [RegExp, (found: readonly string[]) => boolean])[];

function claimsOf(events: Events, isAgent: boolean): Claims {
  const effects = ofKind(events, 'effect');
  const verdicts = events.map((_, at) => judge(events, at, isAgent));
  const repeats = effects.map(
    (one) => effects.filter(({ name, detail }) => name === one.name && detail === one.detail).length,
  );
  const writes = effects.filter(({ name }) => name === 'write').length;
  const isForced = events.some(({ kind }, at) => kind === 'effect' && verdicts[at] === 'broken');
  const isRefused = events.some(
    ({ kind }, at) => kind === 'effect' && verdicts[at] === 'broken' && hasDeclined(events.slice(0, at)),
  );
  const stand = findStand(events);
  const isAt = (how: string, line = '') => stand?.how === how && stand.line === Number(line);
  const hasWaited = (line = '') =>
    events.some((_, at) => {
      const then = findStand(events.slice(0, at + 1));
      return then?.how === 'waits' && then.line === Number(line);
    });
  const handlers = ofKind(events, 'entry').filter(({ part }) => part === 'handler').length;
  const files = new Set(ofKind(events, 'lines').flatMap((one) => Object.keys(one.files)));
  const entriesOf = (wanted = '') =>
    [...files].flatMap((file) => countLines(events, file)).find(({ line }) => line === Number(wanted))
      ?.count ?? 0;
  const isHeld = countHeld(events).length > 0;
  const wasEnded = events.some(
    (event, at) =>
      (event.kind === 'kill' || event.kind === 'restart') &&
      countHeld(events.slice(0, at)).includes(event.instance),
  );
  const isFirst = countAll(events).round === '1';
  return [
    [/nobody agreed|no person agreed/, () => isForced],
    [/the user had declined/, () => isRefused],
    [
      /wrote (?:its audit record|the item|\w+) (twice|\d+ times)(?::|\.)/,
      ([, n]) => repeats.includes(numberOf(n)) || writes === numberOf(n),
    ],
    [/repeated an effect/, () => effects.some(({ again }) => again)],
    [/wrote nothing/, () => writes === 0],
    [/wrote the item once/, () => writes === 1],
    [/wrote once/, () => writes === 0 && effects.length === 1],
    [
      /made (\d+) different records/,
      ([, n]) => repeats.every((one) => one === 1) && effects.length === numberOf(n),
    ],
    [/refused/, () => verdicts.includes('refused')],
    [/line (\d+) ran in (\d+) entries/, ([, line, n]) => entriesOf(line) >= numberOf(n)],
    [/line (\d+) ran both times/, ([, line]) => entriesOf(line) >= 2 && handlers === 2],
    [/waits on line (\d+)/, ([, line]) => isAt('waits', line)],
    [/waited on line (\d+)/, ([, line]) => hasWaited(line)],
    [/continues on line (\d+), where it waited/, ([, line]) => isAt('runs', line) && hasWaited(line)],
    [/is on line (\d+)/, ([, line]) => isAt('runs', line)],
    [/ran its handler (twice|\d+ times)/, ([, n]) => handlers === numberOf(n)],
    [/lost the call/, () => isHeld || wasEnded],
    [/handler is gone/, () => wasEnded],
    [/has returned/, () => !isHeld],
    [/stays open/, () => isHeld],
    [/is entered again/, () => handlers > 1],
    [/is entered\./, () => handlers === 1],
    [/is called again/, () => !isFirst],
    [/is called\./, () => isFirst],
    [/user says: |^\S+: |ended with an error|runs its/, () => true],
  ];
}

/** What a sentence leaves out: an effect of a call that is over, and a handler that ended with its process. */
export function findOmissions(sentence: string, events: Events, isAgent: boolean, isEnd: boolean) {
  const verdicts = events.map((_, at) => judge(events, at, isAgent));
  const isBroken = events.some(({ kind }, at) => kind === 'effect' && verdicts[at] === 'broken');
  const isRefused = verdicts[events.findLastIndex(({ kind }) => kind === 'message')] === 'refused';
  if (isBroken || isRefused) return [];
  const last = events.at(-1);
  const isGone =
    (last?.kind === 'kill' || last?.kind === 'restart') &&
    countHeld(events.slice(0, -1)).includes(last.instance);
  const owed = isEnd
    ? ofKind(events, 'effect').length > 0 && /wrote (?!nothing)|made \d+/
    : isGone && /handler is gone/;
  return owed && !owed.test(sentence) ? [`${owed} is left out of: ${sentence}`] : [];
}

/** The claims of a sentence that are false for the events so far. */
export function findFalseClaims(sentence: string, events: Events, isAgent: boolean): readonly string[] {
  const made = claimsOf(events, isAgent).filter(([what]) => what.test(sentence));
  if (made.length === 0) return [`nothing is known of: ${sentence}`];
  return made.flatMap(([what, holds]) =>
    holds(what.exec(sentence) ?? []) ? [] : [`${what} in: ${sentence}`],
  );
}

/** The lines of a file: the number of entries in which each ran, and whether it runs now. */
export function countLines(events: Events, file: string) {
  const entriesOf = new Map<string, Set<number>>();
  const isHere = (event: TranscriptEvent) => (event.kind === 'entry' ? event.instance : reached(event));
  const begun = events.findLastIndex((event) => isHere(event) !== undefined);
  const here = events[begun] && isHere(events[begun]);
  const now = new Set<string>();
  for (const [at, event] of events.entries()) {
    if (event.kind !== 'lines') continue;
    const latest = events
      .slice(0, at)
      .findLastIndex(
        (one) => (one.kind === 'entry' && one.instance === event.instance) || reached(one) === event.instance,
      );
    // Lines that ran between a request and its entry belong to no entry.
    const entry = events[latest]?.kind === 'entry' ? latest : -1;
    for (const line of Object.keys(event.files[file] ?? {})) {
      entriesOf.set(line, (entriesOf.get(line) ?? new Set()).add(entry));
      if (at > begun && event.instance === here) now.add(line);
    }
  }
  return [...entriesOf].map(([line, entries]) => ({
    line: Number(line),
    count: [...entries].filter((entry) => entry >= 0).length,
    isNow: now.has(line),
  }));
}
